import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHistory } from "./check-history.ts";
import {
  HISTORY_FORMAT,
  HistoryError,
  type HistoryOperation,
  type HistoryPart,
  type HistoryUse,
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

/** A batch of puts: objects and the ETags that they get. */
function batch(ticks: [number, number | null], status: number | null, parts: HistoryPart[]) {
  return { ...entity(ticks, "batch", status), object: "things", parts };
}

function entity(
  ticks: [number, number | null],
  verb: HistoryVerb,
  status: number | null,
  more: More = {},
) {
  return { ...blob(ticks, verb, status, more), kind: "entity" as const };
}

test("all operations of a batch happen at once: half of one is found", () => {
  const both = (etag: string, ifMatch: string | null = null): HistoryPart[] =>
    ["a", "b"].map((object) => ({ object, verb: "put", etag: `${etag}${object}`, ifMatch }));
  const sees = (ticks: [number, number], object: string, etag: string) =>
    entity(ticks, "get", 200, { object, etag: `${etag}${object}` });
  const first = batch([0, 1], 202, both("1"));
  const second = batch([2, 9], 202, both("2"));
  const verdict = (...more: HistoryOperation[]) => verdictOf(first, second, ...more);
  assert.equal(verdict(sees([3, 4], "a", "1"), sees([5, 6], "b", "2")), "explained");
  assert.equal(verdict(sees([3, 4], "a", "2"), sees([5, 6], "b", "2")), "explained");
  // Each entity for itself would be explained.
  assert.equal(verdict(sees([3, 4], "a", "2"), sees([5, 6], "b", "1")), "unexplained");
  assert.equal(verdict(sees([10, 11], "b", "1")), "unexplained");
  const lost = { ...second, returned: null, status: null };
  assert.equal(verdictOf(first, lost, sees([3, 4], "b", "1")), "explained");
  assert.equal(
    verdictOf(first, lost, sees([3, 4], "a", "2"), sees([5, 6], "b", "1")),
    "unexplained",
  );
});

test("a refused batch changes nothing, and the operation that it names has a reason", () => {
  const put = entity([0, 1], "put", 204, { object: "a", etag: "1" });
  const parts = (ifMatch: string): HistoryPart[] => [
    { object: "b", verb: "put" },
    { object: "a", verb: "change", ifMatch },
  ];
  const refused = (ifMatch: string, place: number | null) => ({
    ...batch([2, 3], 412, parts(ifMatch)),
    code: "UpdateConditionNotSatisfied",
    refused: place,
  });
  assert.equal(verdictOf(put, refused("0", 1)), "explained");
  assert.equal(verdictOf(put, refused("1", 1)), "unexplained");
  assert.equal(verdictOf(put, refused("1", null)), "explained");
  const gone = entity([4, 5], "get", 404, { object: "b" });
  assert.equal(verdictOf(put, refused("0", 1), gone), "explained");
  const there = entity([4, 5], "get", 200, { object: "b", etag: "2" });
  assert.equal(
    verdictOf(put, { ...gone, invoked: 1.2, returned: 1.5 }, refused("0", 1), there),
    "unexplained",
  );
});

test("objects are checked apart unless a batch joins them", () => {
  const one = (object: string, at: number) =>
    entity([at, at + 1], "put", 204, { object, etag: `${at}` });
  const joined = batch([10, 11], 202, [
    { object: "a", verb: "put", etag: "x" },
    { object: "c", verb: "put", etag: "y" },
  ]);
  const found = checkHistory({ operations: [one("a", 0), one("b", 2), one("c", 4), joined] });
  assert.deepEqual(found.map(({ object }) => object).sort(), ["a, c", "b"]);
  assert.deepEqual(found.map(({ order }) => order.length).sort(), [1, 3]);
});

const FILE = { kind: "file", object: "share/doc" } as const;

function file(ticks: [number, number | null], verb: HistoryVerb, code = "", more: More = {}) {
  const status = code === "" ? 200 : 409;
  return { ...blob(ticks, verb, status, { code, ...more }), ...FILE };
}

test("a byte-range lock keeps others from its bytes, over REST and SMB, until it ends", () => {
  const opens = (at: number, handle: string) =>
    file([at, at + 1], "open", "", {
      handle,
      access: ["read", "write"],
      share: ["read", "write", "delete"],
    });
  const lock = file([4, 5], "lock", "", { handle: "h", range: [0, 10] });
  const locked = [opens(0, "h"), opens(2, "i"), lock];
  const verdict = (...more: HistoryOperation[]) => verdictOf(...locked, ...more);
  const write = (range: [number, number], code = "", more: More = {}) =>
    file([6, 7], "change", code, { range, ...more });
  assert.equal(verdict(write([9, 1])), "unexplained");
  assert.equal(verdict(write([9, 1], "FileLockConflict")), "explained");
  assert.equal(verdict(write([10, 5])), "explained");
  assert.equal(verdict(write([10, 5], "FileLockConflict")), "unexplained");
  assert.equal(verdict(write([0, 5], "", { handle: "h" })), "explained");
  assert.equal(verdict(write([0, 5], "", { handle: "i" })), "unexplained");
  assert.equal(verdict(write([0, 5], "STATUS_FILE_LOCK_CONFLICT", { handle: "i" })), "explained");
  assert.equal(verdict(file([6, 7], "get", "", { range: [0, 1] })), "unexplained");
  assert.equal(verdict(file([6, 7], "put", "")), "unexplained");
  const again = (code: string) => file([6, 7], "lock", code, { handle: "i", range: [5, 9] });
  assert.equal(verdict(again("")), "unexplained");
  assert.equal(verdict(again("STATUS_LOCK_NOT_GRANTED")), "explained");
  const later = (verb: HistoryVerb) => [
    file([6, 7], verb, "", { handle: "h", ...(verb === "unlock" ? { range: [0, 10] } : {}) }),
    { ...write([0, 5]), invoked: 8, returned: 9 },
  ];
  assert.equal(verdict(...later("unlock")), "explained");
  assert.equal(verdict(...later("close")), "explained");
  assert.equal(verdict(file([6, 7], "unlock", "", { handle: "i", range: [0, 10] })), "unexplained");
});

test("a share mode keeps others out, over REST and SMB, until its handle is closed", () => {
  const opens = (ticks: [number, number], share: HistoryUse[], more: More = {}, code = "") =>
    file(ticks, "open", code, { handle: "h", access: ["write"], share, ...more });
  const read = (code = "") => file([2, 3], "get", code, { etag: "1" });
  assert.equal(verdictOf(opens([0, 1], []), read()), "unexplained");
  assert.equal(verdictOf(opens([0, 1], []), read("SharingViolation")), "explained");
  assert.equal(verdictOf(opens([0, 1], ["read"]), read()), "explained");
  assert.equal(verdictOf(opens([0, 1], ["read"]), read("SharingViolation")), "unexplained");
  assert.equal(verdictOf(opens([0, 1], [], { access: [] }), read()), "explained");
  const second = (code: string) => opens([2, 3], ["read", "write"], { handle: "i" }, code);
  assert.equal(verdictOf(opens([0, 1], ["read"]), second("")), "unexplained");
  assert.equal(verdictOf(opens([0, 1], ["read"]), second("STATUS_SHARING_VIOLATION")), "explained");
  assert.equal(
    verdictOf(opens([0, 1], ["read", "write", "delete"]), file([2, 3], "delete")),
    "unexplained",
  );
  const closed = file([2, 3], "close", "", { handle: "h" });
  assert.equal(
    verdictOf(opens([0, 1], []), closed, { ...read(), invoked: 4, returned: 5 }),
    "explained",
  );
  assert.equal(verdictOf(closed), "unexplained");
});

test("a file shows the ETag of its last write over REST", () => {
  const write = (at: number, etag: string) => file([at, at + 1], "change", "", { etag });
  const get = (at: number, etag: string) => file([at, at + 1], "get", "", { etag });
  assert.equal(verdictOf(write(0, "1"), write(2, "2"), get(4, "2")), "explained");
  assert.equal(verdictOf(write(0, "1"), write(2, "2"), get(4, "1")), "unexplained");
  const removed = file([4, 5], "delete");
  assert.equal(verdictOf(write(0, "1"), removed, get(6, "1")), "unexplained");
  assert.equal(verdictOf(write(0, "1"), removed, write(6, "2")), "unexplained");
  const gone = { ...get(6, "1"), status: 404, etag: null };
  assert.equal(verdictOf(write(0, "1"), removed, gone), "explained");
  assert.equal(verdictOf(write(0, "1"), gone), "unexplained");
  assert.equal(verdictOf(gone, { ...get(8, "1") }), "unexplained");
});

test("what is no history is refused, by the place of its error", () => {
  const read = (operation: object) =>
    readHistory(JSON.stringify({ format: HISTORY_FORMAT, operations: [operation] }));
  assert.deepEqual(read(PUT).operations, [PUT]);
  assert.throws(() => readHistory("{"), HistoryError);
  assert.throws(() => readHistory("{}"), /it must be \{"format": "lazuli-history\/1"/);
  assert.throws(() => read({ ...PUT, verb: "push" }), /operations\[0\]: verb must be put, change/);
  assert.throws(() => read({ ...PUT, kind: "queue" }), /put is no verb of a queue/);
  assert.throws(() => read({ ...PUT, verb: "batch" }), /batch is no verb of a blob/);
  const batched = { ...PUT, kind: "entity", verb: "batch" };
  assert.throws(() => read(batched), /parts must be a list of operations, each with object/);
  assert.throws(() => read({ ...batched, parts: [{ object: "a", verb: "lock" }] }), /parts must/);
  const opened = { ...PUT, kind: "file", verb: "open", handle: "h", access: [], share: ["read"] };
  read(opened);
  assert.throws(() => read({ ...opened, handle: undefined }), /handle must be a text/);
  assert.throws(() => read({ ...opened, access: ["all"] }), /access must be a list of read, write/);
  assert.throws(() => read({ ...opened, verb: "lock" }), /range must be \[first byte, length\]/);
  assert.throws(() => read({ ...PUT, returned: -1 }), /returned must be a number from invoked on/);
  assert.throws(() => read({ ...PUT, status: null }), /status must be a number/);
});
