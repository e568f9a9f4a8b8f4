import assert from "node:assert/strict";
import { test } from "node:test";
import { readRule } from "./read-rule.ts";
import { POINTS } from "./rule.ts";

const read = (asked: unknown) => readRule(asked, ["near"]);

test("a rule acts once, on every request, where its effect acts by default", () => {
  const run = { method: "GET", path: "/box" };
  for (const [asked, at] of [
    [{ answer: 503 }, "arrival"],
    [{ drop: true }, "arrival"],
    [{ delay: "1s" }, "arrival"],
    [{ hold: true }, "read"],
    [{ run }, "read"],
    [{ truncate: 1 }, "answer"],
    [{ slow: 1 }, "answer"],
    [{ hold: true, service: "smb" }, "read"],
    [{ drop: true, service: "smb" }, "arrival"],
  ] as const) {
    const { effect: _, match, ...rest } = read(asked);
    assert.deepEqual(rest, { at, times: 1, skip: 0, chance: 1 }, JSON.stringify(asked));
    assert.deepEqual(match, "service" in asked ? { service: "smb" } : {});
  }
  for (const at of POINTS) {
    assert.equal(read({ answer: 503, at }).at, at);
    assert.equal(read({ hold: true, at, service: "smb" }).at, at);
  }
});

test("effects are read with their defaults", () => {
  const status = null;
  const effects: [object, object][] = [
    [{ answer: 412 }, { kind: "answer", status: 412, code: null, retryAfter: null }],
    [
      { answer: "LeaseIdMissing", retryAfter: 0 },
      { kind: "answer", status, code: "LeaseIdMissing", retryAfter: 0 },
    ],
    [
      { answer: "STATUS_IO_TIMEOUT", service: "smb" },
      { kind: "answer", status, code: "STATUS_IO_TIMEOUT", retryAfter: null },
    ],
    [{ delay: "1.5s" }, { kind: "delay", ms: 1_500 }],
    [{ hold: true }, { kind: "hold", timeoutMs: 30_000 }],
    [
      { hold: true, timeout: "1h" },
      { kind: "hold", timeoutMs: 3_600_000 },
    ],
    [{ truncate: 0 }, { kind: "truncate", bytes: 0 }],
    [{ slow: 1 }, { kind: "slow", bytesPerSecond: 1 }],
  ];
  for (const [asked, effect] of effects) assert.deepEqual(read(asked).effect, effect);
  const run = { method: "PUT", path: "/box/doc?comp=metadata", headers: { "If-Match": "*" } };
  assert.deepEqual(read({ run }).effect, {
    kind: "run",
    request: {
      service: null,
      account: null,
      method: "PUT",
      path: "/box/doc?comp=metadata",
      headers: { "if-match": "*" },
      body: "",
    },
  });
  const { match } = read({ operation: "putblob", headers: { "X-Ms-A": "*" }, drop: true });
  assert.deepEqual(match, { operation: "PutBlob", headers: { "x-ms-a": "*" } });
  assert.equal(read({ drop: true, times: "always" }).times, null);
});

test("a wrong rule is refused with what is allowed", () => {
  const run = { method: "PUT", path: "/box" };
  for (const [asked, message] of [
    ["drop", /A rule must be a JSON object with fields of service, operation/],
    [null, /A rule must be a JSON object/],
    [{}, /one effect: answer, drop, delay.* This one has none/],
    [{ drop: true, delay: "1s" }, /This one has drop and delay/],
    [{ drop: true, timeout: "1s" }, /timeout belongs to hold, and this rule has drop/],
    [{ hold: true, retryAfter: 1 }, /retryAfter belongs to answer/],
    [{ answer: 503, retryAfter: 3_601 }, /retryAfter must be a whole number, from 0 to 3600/],
    [{ answer: 503, at: "end" }, /at must be one of arrival, read, commit, answer; not "end"/],
    [{ slow: 1, at: "arrival" }, /at must be one of answer; not/],
    [{ slow: 0 }, /slow must be a whole number, 1 or more/],
    [{ truncate: -1 }, /truncate must be a whole number, 0 or more/],
    [{ delay: "0s" }, /delay must be a duration.*1 ms or longer/],
    [{ delay: "61m" }, /delay must be an hour or shorter/],
    [{ hold: true, timeout: "2h" }, /timeout must be an hour or shorter/],
    [{ hold: "yes" }, /hold must be true, or left out; not "yes"/],
    [{ drop: true, skip: -1 }, /skip must be a whole number, from 0 to 1000000/],
    [{ drop: true, times: 0 }, /times must be a whole number, from 1 to/],
    [{ drop: true, times: "often" }, /times must be a whole number, 1 or more, or "always"/],
    [{ drop: true, chance: 0 }, /chance must be a number above 0, up to 1/],
    [{ drop: true, method: "LIST" }, /method must be one of GET, HEAD, PUT/],
    [{ drop: true, container: "" }, /container must be a text; not ""/],
    [{ drop: true, headers: { a: 1 } }, /headers must be an object of texts/],
    [{ drop: true, headers: ["a"] }, /headers must be an object of texts/],
    [{ drop: true, account: "far" }, /There is no account "far" on this server. There are near/],
    [{ drop: true, operation: "put" }, /no operation "put". There are .*PutBlob/],
    [{ drop: true, operation: "PutBlob", service: "queue" }, /no operation "PutBlob" of queue/],
    [{ run: { path: "/box" } }, /run.method must be one of GET/],
    [{ run: { ...run, path: "box" } }, /run.path must begin with a slash and be percent-enc/],
    [{ run: { ...run, path: "/a b" } }, /run.path must begin with a slash and be percent-enc/],
    [{ run: { ...run, body: {} } }, /run.body must be a text/],
    [{ run: { ...run, headers: 1 } }, /run.headers must be an object of texts/],
    [{ run: { ...run, service: "smb" } }, /run.service must be one of blob/],
    [
      { run: { ...run, account: "far" } },
      /There is no account "far" on this server. There are near/,
    ],
    [{ run: { ...run, times: 1 } }, /run has no field "times"/],
  ] as const) {
    assert.throws(() => read(asked), message, JSON.stringify(asked));
  }
});
