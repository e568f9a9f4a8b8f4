import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { RestRequest } from "./http/exchange.ts";
import { parseQuery } from "./http/query.ts";
import { RequestFacts } from "./http/request-facts.ts";
import { wholeBodyBudget } from "./http/whole-body.ts";
import { incomingBody } from "./stored-body.ts";

/** A request whose body must not be read: it is refused by its headers alone. */
function sent(headers: Record<string, string>, bodyBytes: number): RestRequest {
  const body: Body = {
    length: bodyBytes,
    drain: () => assert.fail("the body was read"),
  };
  return {
    id: "",
    method: "PUT",
    target: "/",
    path: "/",
    query: parseQuery(""),
    headers: { get: (name) => headers[name], raw: Object.entries(headers).flat() },
    version: "2026-04-06",
    body,
    secure: false,
    remoteAddress: "127.0.0.1",
    receivedMs: 0,
    judgedMs: 0,
    facts: new RequestFacts(),
    wholeBodies: wholeBodyBudget(),
  };
}

function refused(code: string, detail: Record<string, string> = {}): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, code);
    for (const [name, value] of Object.entries(detail)) assert.equal(error.detail[name], value);
    return true;
  };
}

test("a body needs a Content-Length", () => {
  assert.throws(() => incomingBody(sent({}, 0), 10), refused("MissingContentLengthHeader"));
});

test("a body that is too large is refused, and the refusal names the limit", () => {
  const request = sent({ "content-length": "11" }, 11);
  assert.throws(
    () => incomingBody(request, 10),
    refused("RequestBodyTooLarge", { MaxLimit: "10" }),
  );
  assert.equal(incomingBody(request, 11).body, request.body);
});

const STRUCTURED = { "content-length": "99", "x-ms-structured-body": "XSM/1.0; properties=crc64" };

test("the limit applies to the content of a structured body, not to its frames", () => {
  const length = "x-ms-structured-content-length";
  const incoming = incomingBody(sent({ ...STRUCTURED, [length]: "10" }, 99), 10);
  assert.equal(incoming.body.length, 10);
  assert.deepEqual(incoming.echo, ["x-ms-structured-body", "XSM/1.0; properties=crc64"]);
  assert.throws(
    () => incomingBody(sent({ ...STRUCTURED, [length]: "11" }, 99), 10),
    refused("RequestBodyTooLarge", { MaxLimit: "10" }),
  );
  assert.throws(
    () => incomingBody(sent(STRUCTURED, 99), 10),
    refused("MissingRequiredHeader", { HeaderName: length }),
  );
  assert.throws(
    () => incomingBody(sent({ ...STRUCTURED, [length]: "-1" }, 99), 10),
    refused("InvalidHeaderValue", { HeaderName: length }),
  );
});

test("an unknown body format is refused", () => {
  const headers = { ...STRUCTURED, "x-ms-structured-body": "XSM/2.0" };
  assert.throws(
    () => incomingBody(sent(headers, 99), 10),
    refused("InvalidHeaderValue", { HeaderName: "x-ms-structured-body" }),
  );
});
