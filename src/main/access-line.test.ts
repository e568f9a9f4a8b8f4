import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AUTH_KINDS, NO_DETAILS, type RestOutcome, type SmbOutcome } from "../front/outcome.ts";
import { accessLineIn } from "./access-line.ts";

const textLine = accessLineIn("text");
const jsonLine = accessLineIn("json");

const PUT: RestOutcome = {
  atMs: Date.UTC(2024, 0, 2, 3, 4, 5, 67),
  tookMs: 1.25678,
  service: "blob",
  operation: "PutBlob",
  account: "acct",
  container: "box",
  auth: "sharedKey",
  status: 412,
  code: "ConditionNotMet",
  requestBytes: 5,
  responseBytes: 9,
  requestId: "0f-1",
  clientRequestId: "c-1",
  batchId: null,
  remoteAddress: "10.0.0.5",
  method: "PUT",
  target: "/acct/box/b",
  aborted: false,
  details: () => NO_DETAILS,
};

const OPEN: SmbOutcome = {
  atMs: PUT.atMs,
  tookMs: 0.2,
  service: "smb",
  operation: "Create",
  account: "acct",
  container: "docs",
  auth: "ntlm",
  status: 0xc0000043,
  code: "STATUS_SHARING_VIOLATION",
  requestBytes: 120,
  responseBytes: 9,
  requestId: "smb-3-17",
  remoteAddress: "10.0.0.5",
  path: "a b/c.txt",
  user: null,
  dialect: null,
  open: { access: ["read", "write"], shareMode: [], disposition: "openIf" },
  dropped: false,
};

test("a line of text has time, client, request, status, bytes, duration, ids and code", () => {
  assert.equal(
    textLine(PUT),
    '2024-01-02T03:04:05.067Z blob 10.0.0.5 "PUT /acct/box/b" 412 5 9 1.3ms 0f-1 ' +
      "PutBlob acct sharedKey ConditionNotMet",
  );
  const nothing = { ...PUT, account: null, code: null, method: null, target: null, status: 400 };
  assert.equal(
    textLine({ ...nothing, auth: "none", operation: "Unknown", aborted: true }),
    '2024-01-02T03:04:05.067Z blob 10.0.0.5 "- -" 400 5 9 1.3ms aborted 0f-1 Unknown - none -',
  );
});

test("a line of text about SMB has path, access, share mode, dialect or user, too", () => {
  assert.equal(
    textLine(OPEN),
    '2024-01-02T03:04:05.067Z smb 10.0.0.5 "Create docs/a b/c.txt" 0xc0000043 120 9 0.2ms smb-3-17 ' +
      "Create acct ntlm STATUS_SHARING_VIOLATION access=read,write share=none disposition=openIf",
  );
  const logon = { ...OPEN, operation: "SessionSetup", container: null, path: null, open: null };
  assert.match(textLine({ ...logon, user: 'a"\nb' }), / "SessionSetup" .* user="a\\"\\nb"$/);
  assert.match(
    textLine({ ...logon, operation: "Negotiate", status: 0, code: null, dialect: "3.1.1" }),
    / "Negotiate" 0x00000000 .* Negotiate acct ntlm - dialect=3\.1\.1$/,
  );
  assert.match(textLine({ ...logon, dropped: true }), / 0\.2ms aborted smb-3-17 /);
});

test("a line of JSON has the same as fields, without those that do not apply", () => {
  assert.deepEqual(JSON.parse(jsonLine(PUT)), {
    time: "2024-01-02T03:04:05.067Z",
    service: "blob",
    operation: "PutBlob",
    account: "acct",
    container: "box",
    auth: "sharedKey",
    status: 412,
    code: "ConditionNotMet",
    requestBytes: 5,
    responseBytes: 9,
    tookMs: 1.257,
    requestId: "0f-1",
    remoteAddress: "10.0.0.5",
    method: "PUT",
    target: "/acct/box/b",
    clientRequestId: "c-1",
  });
  assert.deepEqual(JSON.parse(jsonLine(OPEN)), {
    time: "2024-01-02T03:04:05.067Z",
    service: "smb",
    operation: "Create",
    account: "acct",
    container: "docs",
    auth: "ntlm",
    status: 0xc0000043,
    code: "STATUS_SHARING_VIOLATION",
    requestBytes: 120,
    responseBytes: 9,
    tookMs: 0.2,
    requestId: "smb-3-17",
    remoteAddress: "10.0.0.5",
    path: "a b/c.txt",
    access: ["read", "write"],
    shareMode: [],
    disposition: "openIf",
  });
  const rare = { ...PUT, batchId: "0f-2", aborted: true, code: null, clientRequestId: null };
  const { batchId, aborted, code, clientRequestId } = JSON.parse(jsonLine(rare));
  assert.deepEqual([batchId, aborted, code, clientRequestId], ["0f-2", true, undefined, undefined]);
  const cut = JSON.parse(jsonLine({ ...OPEN, user: "x", dialect: "3.0", dropped: true }));
  assert.deepEqual([cut.user, cut.dialect, cut.dropped], ["x", "3.0", true]);
});

test("the time is right for every line, in whatever order they come", () => {
  for (const atMs of [PUT.atMs, PUT.atMs + 932, PUT.atMs + 933, PUT.atMs + 999, PUT.atMs - 5_000]) {
    assert.equal(JSON.parse(jsonLine({ ...PUT, atMs })).time, new Date(atMs).toISOString());
  }
});

test("durations of any length have three digits behind the point", () => {
  for (const [tookMs, text] of [
    [0, "0.000"],
    [0.0004, "0.000"],
    [0.0126, "0.013"],
    [1.9996, "2.000"],
    [86_400_000.05, "86400000.050"],
  ] as const) {
    assert.ok(jsonLine({ ...PUT, tookMs }).includes(`"tookMs":${text},`), text);
  }
});

test("no name can end a line or forge a field of one", () => {
  const evil = 'x" 200 0 0\r\n2024-01-02T03:04:05.067Z blob\u2028","code":"Fine\u0085\u001b[2J';
  const names = { container: evil, path: evil, user: evil, account: "acct" };
  for (const outcome of [
    { ...OPEN, ...names },
    { ...PUT, container: evil, clientRequestId: evil, target: "/acct/x" },
  ]) {
    for (const line of [textLine(outcome), jsonLine(outcome)]) {
      assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}]/u);
    }
    const read = JSON.parse(jsonLine(outcome));
    assert.deepEqual([read.container, read.code], [evil, outcome.code]);
  }
});

test("the reference has every field of both formats, and examples as they are written", () => {
  const page = readFileSync(new URL("../../../docs/reference/logs.md", import.meta.url), "utf8");
  const rows = page.slice(page.indexOf("## JSON")).matchAll(/^\| (`[^|]*`) \|/gm);
  const listed = [...rows].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
  const rest = { ...PUT, batchId: "0f-2", aborted: true };
  const smb = { ...OPEN, user: "u", dialect: "3.0", dropped: true };
  const written = [rest, smb].flatMap((outcome) => Object.keys(JSON.parse(jsonLine(outcome))));
  assert.deepEqual(listed.toSorted(), [...new Set(written)].toSorted());
  for (const kind of AUTH_KINDS) assert.ok(page.includes(`\`${kind}\``), kind);

  const at = { atMs: Date.UTC(2026, 10, 18, 7, 20, 9, 123), responseBytes: 238 };
  const requestId = "6b1c2f8e-0a4d-4f0e-9a51-000000000007";
  const put = { ...PUT, ...at, requestId, clientRequestId: null };
  const open = { ...OPEN, atMs: Date.UTC(2026, 10, 18, 7, 20, 11, 480), path: "plan.txt" };
  const asked = { access: ["read"], shareMode: ["read", "write", "delete"], disposition: "open" };
  const examples = [textLine(put), textLine({ ...open, open: asked as SmbOutcome["open"] })];
  assert.ok(page.includes(examples.join("\n")));
  assert.ok(page.includes(jsonLine(put)));
});
