import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACCOUNT_NAME,
  type Asked,
  assertRefused,
  authenticated,
  NOON,
  sign,
} from "./request.fixture.ts";

/** An account token made without a client, so that it can hold values no client would sign. */
function asking(fields: Readonly<Record<string, string>>, more: Partial<Asked> = {}) {
  const all: Record<string, string> = {
    sv: "2018-11-09",
    ss: "b",
    srt: "sco",
    sp: "r",
    se: "2030-01-02T00:00:00Z",
    ...fields,
  };
  const lines = ["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"].map((name) => all[name] ?? "");
  const sig = sign(`${ACCOUNT_NAME}\n${lines.join("\n")}\n`);
  const query = new URLSearchParams({ ...all, sig }).toString().replaceAll("+", "%20");
  const url = `${more.url ?? `http://127.0.0.1/${ACCOUNT_NAME}/c/b`}?${query}`;
  return () => authenticated("blob", { ...more, url });
}

test("the token that the other tests modify is valid", () => {
  assert.equal(asking({})().access.kind, "account-sas");
});

test("a token is valid from its start until its expiry", () => {
  const fields = { st: "2030-01-01T12:00:00Z", se: "2030-01-01T12:00:10Z" };
  const at = (ms: number) => asking(fields, { receivedMs: NOON + ms });
  at(0)();
  at(9_999)();
  const frame =
    "Signature not valid in the specified time frame: Start [Tue, 01 Jan 2030 12:00:00 GMT] - " +
    "Expiry [Tue, 01 Jan 2030 12:00:10 GMT] - Current";
  assert.equal(
    assertRefused("AuthenticationFailed", at(-1)),
    `${frame} [Tue, 01 Jan 2030 11:59:59 GMT]`,
  );
  assert.equal(
    assertRefused("AuthenticationFailed", at(10_000)),
    `${frame} [Tue, 01 Jan 2030 12:00:10 GMT]`,
  );
});

test("an expired token without a start is reported as if it started now", () => {
  const late = { receivedMs: NOON + 20_000 };
  assert.equal(
    assertRefused("AuthenticationFailed", asking({ se: "2030-01-01T12:00:10Z" }, late)),
    "Signed expiry time [Tue, 01 Jan 2030 12:00:10 GMT] must be after signed start time " +
      "[Tue, 01 Jan 2030 12:00:20 GMT]",
  );
});

test("a token that ends before it starts is always refused", () => {
  const fields = { st: "2030-01-01T12:00:10Z", se: "2030-01-01T12:00:00Z" };
  for (const receivedMs of [NOON - 1, NOON + 5_000, NOON + 20_000]) {
    assert.match(
      assertRefused("AuthenticationFailed", asking(fields, { receivedMs })),
      /^Signed expiry time \[.*12:00:00 GMT\] must be after signed start time \[.*12:00:10 GMT\]$/,
    );
  }
});

test("every documented time format is read, and no other", () => {
  for (const se of ["2030-01-02", "2030-01-02T00:00Z", "2030-01-02T00:00:00.1234567Z"]) {
    asking({ se })();
  }
  for (const se of ["2030-1-2", "2030-01-02T00:00", "tomorrow", "2030-02-30", "1893542400"]) {
    assertRefused("AuthenticationFailed", asking({ se }), se);
  }
});

test("a token with addresses is valid from these only", () => {
  const from = (sip: string, remoteAddress: string) => asking({ sip }, { remoteAddress });
  from("10.0.0.5", "10.0.0.5")();
  from("10.0.0.1-10.0.0.9", "10.0.0.1")();
  from("10.0.0.1-10.0.0.9", "10.0.0.9")();
  from("10.0.0.1-10.0.0.9", "::ffff:10.0.0.3")();
  from("10.0.0.1-10.0.0.9", "::FFFF:10.0.0.3")();
  for (const address of ["10.0.0.0", "10.0.0.10", "10.0.1.5", "::1", "fe80::1%eth0", ""]) {
    assertRefused("AuthorizationSourceIPMismatch", from("10.0.0.1-10.0.0.9", address), address);
  }
  for (const sip of ["10.0.0", "10.0.0.256", "10.0.0.01", "a-b", "10.0.0.1-", "::1", "1.2.3.4/8"]) {
    assertRefused("AuthenticationFailed", from(sip, "10.0.0.1"), sip);
  }
});

test("a token for https only is refused over http", () => {
  const over = (scheme: string, spr: string) =>
    asking({ spr }, { url: `${scheme}://127.0.0.1/${ACCOUNT_NAME}/c/b` });
  over("https", "https")();
  over("https", "https,http")();
  over("http", "https,http")();
  assertRefused("AuthorizationProtocolMismatch", over("http", "https"));
  assertRefused("AuthenticationFailed", over("http", "http"));
});

test("a wrong signature is reported before any other error", () => {
  const fields = { se: "2029-01-01", sip: "1.1.1.1", spr: "https", ss: "q" };
  const attempt = asking({ ...fields, sv: "2020-12-06" });
  assert.match(assertRefused("AuthenticationFailed", attempt), /did not match/);
});

test("every missing mandatory field is named", () => {
  for (const name of ["sp", "se", "ss", "srt"]) {
    assert.match(assertRefused("AuthenticationFailed", asking({ [name]: "" })), new RegExp(name));
  }
  for (const sv of ["x", "2018-11-9", "2018-13-01", "3025-01-01", "2018-11-09T00:00Z"]) {
    assertRefused("AuthenticationFailed", asking({ sv }), sv);
  }
});

test("a line end in any field is refused", () => {
  for (const fields of [{ sp: "r\n" }, { st: "\n" }, { sip: "\r\n" }, { srt: "sco\x00" }]) {
    assert.match(assertRefused("AuthenticationFailed", asking(fields)), /control character/);
  }
});
