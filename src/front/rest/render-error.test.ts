import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_BYTES, wholeBody } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { RestRequest } from "./http/exchange.ts";
import { parseQuery } from "./http/query.ts";
import { RequestFacts } from "./http/request-facts.ts";
import { wholeBodyBudget } from "./http/whole-body.ts";
import { renderDfsError, renderTableError, renderXmlError } from "./render-error.ts";
import { parseXml } from "./xml/parse-xml.ts";

function asked(method: string): RestRequest {
  return {
    id: "11111111-2222-3333-4444-555555555555",
    method,
    target: "/",
    path: "/",
    query: parseQuery(""),
    headers: { get: () => undefined, raw: [] },
    version: "2026-04-06",
    body: wholeBody(NO_BYTES),
    secure: false,
    remoteAddress: "127.0.0.1",
    receivedMs: Date.UTC(2024, 0, 1, 12, 30, 0, 250),
    judgedMs: 0,
    facts: new RequestFacts(),
    wholeBodies: wholeBodyBudget(),
  };
}

const MESSAGE =
  "The value for one of the HTTP headers is not in the correct format.\n" +
  "RequestId:11111111-2222-3333-4444-555555555555\nTime:2024-01-01T12:30:00.2500000Z";
const WRONG_HEADER = new Fault("InvalidHeaderValue", { HeaderName: "x", HeaderValue: "<&\u0001" });

test("an XML error has code, message with request id and time, and an element per detail", () => {
  const { status, headers, body } = renderXmlError(WRONG_HEADER, asked("PUT"));
  assert.equal(status, 400);
  assert.deepEqual(headers, [
    "x-ms-error-code",
    "InvalidHeaderValue",
    "Content-Type",
    "application/xml",
  ]);
  assert.match(body as string, /^<\?xml version="1\.0" encoding="utf-8"\?><Error><Code>/);
  const root = parseXml(Buffer.from(body as string));
  assert.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      ["Code", "InvalidHeaderValue"],
      ["Message", MESSAGE],
      ["HeaderName", "x"],
      ["HeaderValue", "<&\ufffd"],
    ],
  );
});

test("a table error is an odata.error, a Data Lake error is an error", () => {
  const table = renderTableError(WRONG_HEADER, asked("PUT"));
  assert.deepEqual(JSON.parse(table.body as string), {
    "odata.error": {
      code: "InvalidHeaderValue",
      message: { lang: "en-US", value: `${MESSAGE}\nHeaderName:x\nHeaderValue:<&\u0001` },
    },
  });
  const dfs = renderDfsError(new Fault("InvalidHeaderValue"), asked("PUT"));
  assert.deepEqual(JSON.parse(dfs.body as string), {
    error: { code: "InvalidHeaderValue", message: MESSAGE },
  });
});

test("a response to HEAD and a 304 have an error code but no body", () => {
  const head = renderXmlError(new Fault("BlobNotFound"), asked("HEAD"));
  assert.deepEqual(head, {
    status: 404,
    headers: ["x-ms-error-code", "BlobNotFound"],
    body: null,
  });
  const unchanged = renderXmlError(new Fault("NotModified", { ETag: '"0x1"' }), asked("GET"));
  assert.deepEqual(unchanged, {
    status: 304,
    headers: ["ETag", '"0x1"', "x-ms-error-code", "ConditionNotMet"],
    body: null,
  });
});

test("details that are headers are sent as headers and not repeated in the body", () => {
  const fault = new Fault("InvalidRange", { "Content-Range": "bytes */10" });
  const { headers, body } = renderXmlError(fault, asked("GET"));
  assert.deepEqual(headers.slice(0, 2), ["Content-Range", "bytes */10"]);
  assert.doesNotMatch(body as string, /Content-Range/);
});

test("exactly the 401 responses carry the challenge", () => {
  const challenge = "Bearer authorization_uri=https://login/x";
  const options = { challenge: () => challenge };
  for (const code of ["NoAuthenticationInformation", "InvalidBearerToken"] as const) {
    const { status, headers } = renderXmlError(new Fault(code), asked("HEAD"), options);
    assert.equal(status, 401);
    assert.deepEqual(headers.slice(-2), ["WWW-Authenticate", challenge]);
  }
  const other = renderXmlError(new Fault("AuthenticationFailed"), asked("GET"), options);
  assert.ok(!other.headers.includes("WWW-Authenticate"));
});

test("a busy server says when to retry", () => {
  const { status, headers } = renderXmlError(new Fault("ServerBusy"), asked("HEAD"));
  assert.deepEqual([status, headers.slice(-2)], [503, ["Retry-After", "1"]]);
});
