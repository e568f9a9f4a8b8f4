import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHistory } from "./check-history.ts";
import {
  HISTORY_FORMAT,
  HistoryError,
  type HistoryOperation,
  type HistoryVerb,
  readHistory,
} from "./history-file.ts";

type More = Partial<HistoryOperation>;

/** An operation on a blob, from one tick to another. */
function blob(
  ticks: [number, number | null],
  verb: HistoryVerb,
  status: number | null,
  more: More = {},
) {
  const [invoked, returned] = ticks;
  const about = { client: `c${invoked}`, kind: "blob", object: "box/doc" } as const;
  return { ...about, verb, invoked, returned, status, ...more };
}

function queue(ticks: [number, number], verb: HistoryVerb, status: number, more: More = {}) {
  return { ...blob(ticks, verb, status, more), kind: "queue" as const, object: "work" };
}

function verdictOf(...operations: HistoryOperation[]): string {
  return checkHistory({ operations })
    .map(({ verdict }) => verdict)
    .join();
}

const PUT = blob([0, 1], "put", 201, { etag: "A", value: "1" });

test("of two updates of one state, both may not win", () => {
  const first = blob([2, 5], "put", 201, { etag: "B", ifMatch: "A" });
  const second = blob([3, 6], "put", 201, { etag: "C", ifMatch: "A" });
  assert.equal(verdictOf(PUT, first, second), "unexplained");
  const lost = { ...second, status: 412, code: "ConditionNotMet", etag: null };
  assert.equal(verdictOf(PUT, first, lost), "explained");
  assert.equal(verdictOf(PUT, lost), "unexplained");
});

test("a read after a write does not show what was before, and one at its time may", () => {
  const write = blob([2, 4], "put", 201, { etag: "B", value: "2" });
  const old = (ticks: [number, number]) => blob(ticks, "get", 200, { etag: "A", value: "1" });
  assert.equal(verdictOf(PUT, write, old([5, 6])), "unexplained");
  assert.equal(verdictOf(PUT, write, old([3, 6])), "explained");
  const torn = blob([5, 6], "get", 200, { etag: "B", value: "1" });
  assert.equal(verdictOf(PUT, write, torn), "unexplained");
  assert.equal(verdictOf(PUT, write, old([3, 6]), blob([7, 8], "get", 404)), "unexplained");
});

test("the verdict has the order that was found", () => {
  const get = blob([2, 9], "get", 200, { etag: "B" });
  const write = blob([3, 4], "put", 201, { etag: "B" });
  const [found] = checkHistory({ operations: [PUT, get, write] });
  assert.deepEqual(found?.order, [PUT, write, get]);
});

test("a write without an answer may have happened, once", () => {
  const lost = blob([2, null], "put", null, { value: "2" });
  const sees = (ticks: [number, number], etag: string, value: string) =>
    blob(ticks, "get", 200, { etag, value });
  assert.equal(verdictOf(PUT, lost, sees([3, 4], "A", "1")), "explained");
  assert.equal(verdictOf(PUT, lost, sees([3, 4], "B", "2"), sees([5, 6], "B", "2")), "explained");
  assert.equal(verdictOf(PUT, lost, sees([3, 4], "B", "2"), sees([5, 6], "A", "1")), "unexplained");
  const failed = { ...lost, returned: 3, status: 500 };
  assert.equal(verdictOf(PUT, failed, sees([4, 5], "B", "2")), "explained");
});

test("a lease keeps others out until it ends", () => {
  const at = (fromMs: number) => ({ fromMs, toMs: fromMs + 10 });
  const lease = blob([2, 3], "acquire", 201, {
    leaseId: "L",
    leaseSeconds: 15,
    etag: "A",
    ...at(1_000),
  });
  const write = (ms: number, more: More) =>
    blob([4, 5], "put", 201, { etag: "B", ...at(ms), ...more });
  assert.equal(verdictOf(PUT, lease, write(2_000, {})), "unexplained");
  assert.equal(verdictOf(PUT, lease, write(2_000, { leaseId: "L" })), "explained");
  assert.equal(verdictOf(PUT, lease, write(17_000, { leaseId: "L" })), "unexplained");
  assert.equal(verdictOf(PUT, lease, write(17_000, {})), "explained");
  const refused = (ms: number) => blob([4, 5], "put", 412, { code: "LeaseIdMissing", ...at(ms) });
  assert.equal(verdictOf(PUT, lease, refused(2_000)), "explained");
  assert.equal(verdictOf(PUT, lease, refused(17_000)), "unexplained");
  const second = blob([4, 5], "acquire", 201, {
    leaseId: "M",
    leaseSeconds: 15,
    etag: "A",
    ...at(2_000),
  });
  assert.equal(verdictOf(PUT, lease, second), "unexplained");
});

test("what was stored before the recording is unknown until somebody sees it", () => {
  const gone = blob([0, 1], "get", 404);
  const there = blob([2, 3], "get", 200, { etag: "A" });
  assert.equal(verdictOf(there, { ...there, invoked: 4, returned: 5, etag: "B" }), "unexplained");
  assert.equal(verdictOf(gone), "explained");
  assert.equal(verdictOf(gone, there), "unexplained");
});

test("a message is not given to two clients within its timeout, and a receipt is good once", () => {
  const message = (receipt: string, visibleAtMs: number) => ({ id: "m", receipt, visibleAtMs });
  const at = (ms: number) => ({ fromMs: ms, toMs: ms + 10, max: 1 });
  const send = queue([0, 1], "send", 201, { ...at(0), messages: [message("r0", 0)] });
  const take = (ticks: [number, number], ms: number, receipt: string) =>
    queue(ticks, "receive", 200, { ...at(ms), messages: [message(receipt, ms + 30_000)] });
  const first = take([2, 3], 2_000, "r1");
  assert.equal(verdictOf(send, first, take([4, 5], 3_000, "r2")), "unexplained");
  const second = take([4, 5], 33_000, "r2");
  assert.equal(verdictOf(send, first, second), "explained");
  const remove = (value: string, status: number, code: string | null = null) =>
    queue([6, 7], "remove", status, {
      ...at(34_000),
      value,
      code,
      messages: [{ ...message("", 0), receipt: null }],
    });
  assert.equal(verdictOf(send, first, second, remove("r1", 204)), "unexplained");
  assert.equal(
    verdictOf(send, first, second, remove("r1", 400, "PopReceiptMismatch")),
    "explained",
  );
  assert.equal(
    verdictOf(send, first, second, remove("r2", 400, "PopReceiptMismatch")),
    "unexplained",
  );
  assert.equal(
    verdictOf(send, first, second, remove("r2", 204), take([8, 9], 99_000, "r3")),
    "unexplained",
  );
  const none = queue([2, 3], "receive", 200, { ...at(2_000), messages: [] });
  assert.equal(verdictOf(send, none), "unexplained");
});

test("what is no history is refused, by the place of its error", () => {
  const read = (operation: object) =>
    readHistory(JSON.stringify({ format: HISTORY_FORMAT, operations: [operation] }));
  assert.deepEqual(read(PUT).operations, [PUT]);
  assert.throws(() => readHistory("{"), HistoryError);
  assert.throws(() => readHistory("{}"), /it must be \{"format": "lazuli-history\/1"/);
  assert.throws(() => read({ ...PUT, verb: "push" }), /operations\[0\]: verb must be put, change/);
  assert.throws(() => read({ ...PUT, kind: "queue" }), /put is no verb of a queue/);
  assert.throws(() => read({ ...PUT, returned: -1 }), /returned must be a number from invoked on/);
  assert.throws(() => read({ ...PUT, status: null }), /status must be a number/);
});
