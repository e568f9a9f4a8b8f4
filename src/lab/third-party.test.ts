import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { RestServiceName } from "../front/outcome.ts";
import type { ThirdParty } from "./rule.ts";
import { LAB_HEADER, ThirdParties } from "./third-party.ts";

const ASKED: ThirdParty = {
  service: null,
  account: null,
  method: "PUT",
  path: "/box/doc?comp=metadata",
  headers: { "x-ms-meta-a": "b" },
  body: "text",
};

/** Third parties of a server that answers 412 to everything, and what it was asked. */
async function parties(t: TestContext) {
  const seen: { request: IncomingMessage; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    seen.push({ request, body });
    response.writeHead(412, { "x-ms-error-code": "ConditionNotMet", etag: "0x1" });
    response.end("why");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const origins: Partial<Record<RestServiceName, string>> = {
    blob: `http://127.0.0.1:${port}`,
    queue: `http://localhost:${port}`,
    table: "http://127.0.0.1:1",
  };
  const keys: Record<string, string> = { near: "a2V5", far: "ZmFy" };
  const all = new ThirdParties(
    {
      originOf: (service) => origins[service],
      keyOf: (account) => keys[account],
      accounts: Object.keys(keys),
      smbOrigin: undefined,
    },
    "token",
  );
  return { all, seen };
}

test("a third party's request has the service and account of the first, a SAS, and the lab's token", async (t) => {
  const { all, seen } = await parties(t);
  const answer = await all.send(ASKED, { service: "blob", account: "near" });
  assert.deepEqual(
    [answer.status, answer.code, answer.headers.etag, answer.body],
    [412, "ConditionNotMet", "0x1", "why"],
  );
  const [{ request, body } = { request: null, body: "" }] = seen;
  const url = new URL(request?.url ?? "", "http://lab");
  assert.equal(url.pathname, "/near/box/doc");
  assert.equal(url.searchParams.get("comp"), "metadata");
  assert.equal(url.searchParams.get("se"), "9999-12-31T23:59:59Z", "no clock of a lab ends it");
  assert.ok(url.searchParams.has("sig"));
  assert.equal(request?.headers["x-ms-meta-a"], "b");
  assert.equal(request?.headers[LAB_HEADER], "token");
  assert.equal(body, "text");
});

test("a third party can use another service and account, and scenes meet rules", async (t) => {
  const { all, seen } = await parties(t);
  const first = { service: "blob", account: "near" } as const;
  await all.send({ ...ASKED, service: "queue", account: "far" }, first, true);
  const [{ request } = { request: null }] = seen;
  assert.match(request?.url ?? "", /^\/far\/box\/doc/);
  assert.match(request?.headers.host ?? "", /^localhost:/);
  assert.equal(request?.headers[LAB_HEADER], undefined);
});

test("a third party that cannot be sent is refused or fails", async (t) => {
  const { all } = await parties(t);
  const first = { service: "blob", account: "near" } as const;
  const send = async (more: Partial<ThirdParty>) => all.send({ ...ASKED, ...more }, first);
  await assert.rejects(send({ service: "file" }), /The file service does not run on this server/);
  await assert.rejects(send({ account: "nobody" }), /There is no account "nobody"/);
  await assert.rejects(send({ service: "table" }), /ECONNREFUSED/);
});
