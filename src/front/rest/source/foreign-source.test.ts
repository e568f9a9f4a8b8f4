import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { NO_CONDITIONS } from "../../../rules/conditions.ts";
import type { ForeignAsked, ForeignLimits } from "./foreign-source.ts";
import { FOREIGN_LIMITS, ForeignSources } from "./foreign-sources.ts";
import { serve } from "./http-server.fixture.ts";
import { parseSourceUrl } from "./source-url.ts";

const ASKED: ForeignAsked = {
  authorization: null,
  conditions: NO_CONDITIONS,
  role: "copied",
  version: "2026-04-06",
};

function sourceAt(url: string, origins: string[], limits: Partial<ForeignLimits> = {}) {
  const sources = new ForeignSources({ origins, networks: [] }, { ...FOREIGN_LIMITS, ...limits });
  return sources.at(parseSourceUrl(url), ASKED);
}

function refused(code: FaultCode, reason: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    assert.match(String(error.detail.Reason), reason);
    return true;
  };
}

test("a name that resolves to this machine is not contacted, even if it is listed", async (t) => {
  let hits = 0;
  const origin = await serve(t, (_, answer) => {
    hits++;
    answer.end();
  });
  const named = origin.replace("127.0.0.1", "localhost");
  const source = sourceAt(`${named}/x`, [named]);
  await assert.rejects(source.look(), refused("CopySourceForbidden", /copySources\.networks/));
  assert.equal(hits, 0);
});

test("a listed network may be reached by name", async (t) => {
  const origin = await serve(t, (_, answer) => answer.setHeader("content-length", 4).end());
  const named = origin.replace("127.0.0.1", "localhost");
  const networks = ["127.0.0.0/8", "::1/128"];
  const sources = new ForeignSources({ origins: [named], networks });
  const source = sources.at(parseSourceUrl(named), ASKED);
  assert.equal((await source.look()).length, 4);
});

test("a source that does not answer times out", async (t) => {
  const origin = await serve(t, () => {});
  const source = sourceAt(`${origin}/x`, [origin], { answerMs: 1 });
  await assert.rejects(source.look(), refused("CannotVerifyCopySource", /no answer in time/));
});

test("a source that is too slow is cut off", async (t) => {
  const origin = await serve(t, (_, answer) => {
    answer.writeHead(200, { "content-length": "100" });
    answer.write("x");
  });
  const source = sourceAt(`${origin}/x`, [origin], { paceMs: 1, paceBytesMin: 10 });
  const opened = await source.open(null, null);
  await assert.rejects(
    opened.body.drain(() => {}),
    refused("CannotVerifyCopySource", /too slow/),
  );
});

test("a source that is too large or has no length is not read", async (t) => {
  const origin = await serve(t, (request, answer) => {
    if (request.url === "/large") answer.writeHead(200, { "content-length": "100" });
    if (request.method === "HEAD") answer.end();
    else answer.write("x");
  });
  const large = sourceAt(`${origin}/large`, [origin], { bytesMax: 99 });
  await assert.rejects(large.open(null, null), { code: "RequestBodyTooLarge" });
  await assert.rejects(large.look(), { code: "RequestBodyTooLarge" });
  const unknown = sourceAt(`${origin}/unknown`, [origin]);
  await assert.rejects(unknown.open(null, null), refused("CopySourceInvalid", /Content-Length/));
});

test("a server without ranges, or one that is down, is reported", async (t) => {
  const origin = await serve(t, (_, answer) => answer.end("all of it"));
  const source = sourceAt(`${origin}/x`, [origin]);
  const range = { from: 0, to: 1 };
  await assert.rejects(source.open(range, null), refused("CopySourceInvalid", /ranges/));
  const nowhere = sourceAt("http://127.0.0.1:1/x", ["http://127.0.0.1:1"]);
  await assert.rejects(nowhere.look(), refused("CannotVerifyCopySource", /could not be reached/));
});

test("the path and the query are sent unchanged, and nothing else", async (t) => {
  let target = "";
  let names: string[] = [];
  const origin = await serve(t, (request, answer) => {
    target = request.url ?? "";
    names = Object.keys(request.headers).sort();
    answer.setHeader("content-length", 0).end();
  });
  await sourceAt(`${origin}/a/../b%2F?sig=x%3D`, [origin]).look();
  assert.equal(target, "/a/../b%2F?sig=x%3D");
  assert.deepEqual(names, ["connection", "host", "x-ms-version"]);
});
