import assert from "node:assert/strict";
import { test } from "node:test";
import { atOnce } from "../../base/fair-queue.ts";
import { NO_DETAILS, type RestOutcome, type SmbOutcome } from "../outcome.ts";
import { type ConflictKind, conflictKind } from "./conflict-kind.ts";
import { PROMETHEUS_TEXT, render } from "./exposition.ts";
import { RequestMetrics } from "./request-metrics.ts";

const FIELDS = {
  atMs: 0,
  tookMs: 2,
  account: "account",
  container: "secret-container",
  requestId: "id",
  remoteAddress: "192.0.2.1",
  code: null,
  requestBytes: 0,
  responseBytes: 0,
};

function rest(changes: Partial<RestOutcome>): RestOutcome {
  return {
    ...FIELDS,
    service: "blob",
    operation: "GetBlob",
    auth: "sharedKey",
    status: 200,
    method: "GET",
    target: "/account/secret-container/blob",
    clientRequestId: "client",
    batchId: null,
    aborted: false,
    details: () => NO_DETAILS,
    ...changes,
  };
}

function smb(changes: Partial<SmbOutcome>): SmbOutcome {
  return {
    ...FIELDS,
    service: "smb",
    operation: "Create",
    auth: "ntlm",
    status: 0,
    path: "secret-container/file",
    user: "account",
    dialect: null,
    open: null,
    dropped: false,
    ...changes,
  };
}

const NAMES: Readonly<Record<number, string>> = {
  0: "STATUS_SUCCESS",
  3221225494: "STATUS_MORE_PROCESSING_REQUIRED",
  3221225539: "STATUS_SHARING_VIOLATION",
};
const statusName = (status: number) => NAMES[status] ?? "unknown";

function linesOf(metrics: RequestMetrics): string[] {
  const text = atOnce(render(metrics.metrics, PROMETHEUS_TEXT));
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test("each outcome counts once, under its service, operation, status and error", () => {
  const metrics = new RequestMetrics(["blob", "smb"], statusName);
  metrics.take(rest({ responseBytes: 10 }));
  metrics.take(rest({ responseBytes: 5, requestBytes: 1, tookMs: 40 }));
  metrics.take(rest({ status: 412, code: "ConditionNotMet" }));
  metrics.take(smb({}));
  metrics.take(smb({ status: 0xc0000043, code: "STATUS_SHARING_VIOLATION" }));
  metrics.take(smb({ operation: "SessionSetup", status: 0xc0000016 }));
  const lines = linesOf(metrics);
  const has = (line: string) => assert.ok(lines.includes(line), `${line} in\n${lines.join("\n")}`);
  has('lazuli_requests_total{service="blob",operation="GetBlob",code="200",error=""} 2');
  has(
    'lazuli_requests_total{service="blob",operation="GetBlob",code="412",error="ConditionNotMet"} 1',
  );
  has('lazuli_requests_total{service="smb",operation="Create",code="STATUS_SUCCESS",error=""} 1');
  has(
    'lazuli_requests_total{service="smb",operation="Create",code="STATUS_SHARING_VIOLATION",error="STATUS_SHARING_VIOLATION"} 1',
  );
  has(
    'lazuli_requests_total{service="smb",operation="SessionSetup",code="STATUS_MORE_PROCESSING_REQUIRED",error=""} 1',
  );
  has('lazuli_request_bytes_total{service="blob",operation="GetBlob"} 1');
  has('lazuli_response_bytes_total{service="blob",operation="GetBlob"} 15');
  const bucket = 'lazuli_request_duration_seconds_bucket{service="blob",operation="GetBlob",le=';
  has(`${bucket}"0.001"} 0`);
  has(`${bucket}"0.0025"} 2`);
  has(`${bucket}"0.05"} 3`);
  has('lazuli_request_duration_seconds_count{service="blob",operation="GetBlob"} 3');
  has('lazuli_conflicts_total{service="blob",kind="condition"} 1');
  has('lazuli_conflicts_total{service="smb",kind="sharing_violation"} 1');
  has('lazuli_conflicts_total{service="smb",kind="lock"} 0');
});

test("no label tells whose request it was, or what it was about", () => {
  const metrics = new RequestMetrics(["blob"], statusName);
  metrics.take(rest({}));
  assert.doesNotMatch(linesOf(metrics).join("\n"), /account|container|192\.0\.2\.1|client/);
});

test("a request inside a batch counts, but has no time of its own", () => {
  const metrics = new RequestMetrics(["blob"], statusName);
  metrics.take(rest({ operation: "DeleteBlob", batchId: "batch" }));
  const lines = linesOf(metrics);
  const labels = 'service="blob",operation="DeleteBlob"';
  assert.ok(lines.includes(`lazuli_requests_total{${labels},code="200",error=""} 1`));
  assert.ok(lines.includes(`lazuli_request_duration_seconds_count{${labels}} 0`));
});

test("the number of series is bounded, and no request is lost", () => {
  const metrics = new RequestMetrics(["blob"], statusName);
  for (let code = 0; code < 1_000; code++) metrics.take(rest({ status: 400, code: `Code${code}` }));
  const counts = linesOf(metrics)
    .filter((line) => line.startsWith("lazuli_requests_total"))
    .map((line) => Number(line.split(" ").at(-1)));
  assert.equal(counts.length, 64);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1_000,
  );
});

test("conflicts have kinds that tell who stood in the way", () => {
  const kinds: readonly [status: number, code: string | null, kind: ConflictKind | null][] = [
    [200, null, null],
    [404, "BlobNotFound", null],
    [304, "NotModified", "not_modified"],
    [412, "ConditionNotMet", "condition"],
    [412, "UpdateConditionNotSatisfied", "condition"],
    [412, "LeaseIdMissing", "lease"],
    [412, "LeaseLost", "lease"],
    [409, "LeaseAlreadyPresent", "lease"],
    [412, "InfiniteLeaseDurationRequired", "lease"],
    [409, "ContainerAlreadyExists", "conflict"],
    [409, "SharingViolation", "sharing_violation"],
    [409, "SMBDeletePending", "delete_pending"],
    [409, "FileLockConflict", "lock"],
    [0xc0000043, "STATUS_SHARING_VIOLATION", "sharing_violation"],
    [0xc0000056, "STATUS_DELETE_PENDING", "delete_pending"],
    [0xc0000054, "STATUS_FILE_LOCK_CONFLICT", "lock"],
    [0xc0000055, "STATUS_LOCK_NOT_GRANTED", "lock"],
    [0xc0000035, "STATUS_OBJECT_NAME_COLLISION", "conflict"],
    [0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND", null],
  ];
  for (const [status, code, kind] of kinds) assert.equal(conflictKind({ status, code }), kind);
});
