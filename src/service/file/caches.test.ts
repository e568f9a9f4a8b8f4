import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { HANDLE_CACHING, READ_CACHING, WRITE_CACHING } from "../../rules/caching.ts";
import { READ, WRITE } from "../../rules/share-mode.ts";
import { StoreError, type Transaction } from "../../store/store.ts";
import { acknowledgeBreak } from "./acknowledge-break.ts";
import { CacheBreakingStore } from "./cache-breaking-store.ts";
import { BREAK_MS_MAX, CacheBreaks } from "./cache-breaks.ts";
import type { BreakNotice } from "./caches.ts";
import { getFile } from "./get-file.ts";
import { ManualTimer } from "./manual-timer.fixture.ts";
import type { OpenFile } from "./open-file.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";
import { encodeMessage } from "./peer-messages.ts";
import { receiveMessage } from "./receive-message.ts";
import type { WatchedFiles } from "./watched-store.ts";

const RW = READ_CACHING | WRITE_CACHING;
const RHW = RW | HANDLE_CACHING;
const OWNER_A = Buffer.alloc(32, 1);

interface Told {
  readonly files: Files;
  readonly timer: ManualTimer;
  /** The next notice, once it is sent. */
  next(): Promise<BreakNotice>;
  /** Notices that the test has not taken with `next` yet. */
  readonly notices: readonly BreakNotice[];
}

async function filesTold(): Promise<Told> {
  const timer = new ManualTimer();
  const breaks = new CacheBreaks(timer);
  const files = await Files.openWith(breaks);
  const notices: BreakNotice[] = [];
  const waiting: ((notice: BreakNotice) => void)[] = [];
  breaks.listen((notice) => {
    const first = waiting.shift();
    if (first === undefined) notices.push(notice);
    else first(notice);
  });
  const next = () => {
    const notice = notices.shift();
    if (notice !== undefined) return Promise.resolve(notice);
    return new Promise<BreakNotice>((resolve) => waiting.push(resolve));
  };
  return { files, timer, next, notices };
}

function lease(wanted: number, owner = OWNER_A): Partial<OpenFile> {
  const caching = { kind: "lease", owner, wanted, isVersioned: true, epoch: 0 } as const;
  return { mode: { access: READ | WRITE, share: ALL }, caching };
}

function patient(files: Files, patienceMs: number, breaks: CacheBreaks) {
  const { store, contents } = files.context;
  return { store: new CacheBreakingStore(store, breaks, patienceMs), contents, breaks };
}

function get(files: Files, patienceMs: number, breaks = files.context.breaks) {
  const asked = { ...files.at("file"), range: null, md5: false };
  return getFile(patient(files, patienceMs, breaks), asked).then(({ reading }) => reading.close());
}

test("a client that does not answer within 35 s loses its caching, and the wait for it ends", async () => {
  const { files, timer, next } = await filesTold();
  await files.create("file", 10);
  const opened = await files.openDone("file", lease(RHW));
  const read = get(files, 2 * BREAK_MS_MAX);
  await next();
  timer.pass(BREAK_MS_MAX - 1);
  assert.equal(timer.running, 2);
  timer.pass(1);
  await read;
  const again = await files.openDone("file", lease(0));
  assert.equal(again.caching?.state, 0);
  assert.deepEqual(again.caching?.owner, opened.caching?.owner);
});

/** Fails calls of `transact` as "unknown": they take effect. */
function loseAnswer(t: TestContext, { store }: Files) {
  const { transact } = store;
  return t.mock.method(store, "transact", async (body: (tx: Transaction) => unknown) => {
    await transact.call(store, body);
    throw new StoreError("unknown", "the answer was lost");
  }).mock;
}

test("a break whose commit was called unknown is sent, and has a deadline", async (t) => {
  const { files, timer, next } = await filesTold();
  await files.create("file", 10);
  await files.openDone("file", lease(RHW));
  const lost = loseAnswer(t, files);
  await assert.rejects(get(files, 2 * BREAK_MS_MAX), /the answer was lost/);
  lost.restore();
  await next();
  const read = get(files, 2 * BREAK_MS_MAX);
  await untilRunning(timer, 2);
  timer.pass(BREAK_MS_MAX);
  await read;
});

test("a break whose notice was lost with a front end is sent again, once", async () => {
  const { files, timer, notices } = await filesTold();
  await files.create("file", 10);
  const { caching } = await files.openDone("file", lease(RHW));
  const lostTimer = new ManualTimer();
  const waits = assert.rejects(
    get(files, 1_000, new CacheBreaks(lostTimer)),
    refused("ClientCacheFlushDelay"),
  );
  await untilRunning(lostTimer, 2);
  lostTimer.pass(1_000);
  await waits;
  assert.deepEqual(notices, []);
  const reads = [get(files, 2 * BREAK_MS_MAX), get(files, 2 * BREAK_MS_MAX)];
  await untilRunning(timer, 3);
  const sent = notices.map(({ owner, from, to, mustAnswer }) => ({ owner, from, to, mustAnswer }));
  const to = RHW & ~WRITE_CACHING;
  assert.deepEqual(sent, [{ owner: caching?.owner, from: RHW, to, mustAnswer: true }]);
  timer.pass(BREAK_MS_MAX);
  await Promise.all(reads);
});

test("a client that closes one of its handles must still answer a break in time, and is told once", async () => {
  const { files, timer, notices } = await filesTold();
  await files.create("file", 10);
  const one = await files.open("file", lease(RHW));
  await files.open("file", lease(RHW));
  const reads = [get(files, 2 * BREAK_MS_MAX)];
  await untilRunning(timer, 2);
  await files.close(one);
  reads.push(get(files, 2 * BREAK_MS_MAX));
  await untilRunning(timer, 3);
  assert.equal(notices.length, 1);
  timer.pass(BREAK_MS_MAX);
  await Promise.all(reads);
});

test("a notice that is repeated after its answer, as by a slow front end, is not sent", async () => {
  const { files, timer, notices } = await filesTold();
  const { store, breaks } = files.context;
  await files.create("file", 10);
  await files.open("file", lease(RHW));
  const read = get(files, 2 * BREAK_MS_MAX);
  await untilRunning(timer, 2);
  const notice = notices[0] as BreakNotice;
  const { at } = files.at("file");
  await acknowledgeBreak(files.context, {
    kind: "lease",
    at,
    owner: notice.owner,
    state: notice.to,
  });
  await read;
  receiveMessage(
    { store, breaks } as unknown as WatchedFiles,
    encodeMessage({ kind: "break", notice: { ...notice, isRepeat: true } }),
  );
  // What the repeated notice reads comes before.
  await store.read(() => null);
  await new Promise(setImmediate);
  assert.equal(notices.length, 1);
});

async function untilRunning(timer: ManualTimer, count: number): Promise<void> {
  while (timer.running < count) await new Promise(setImmediate);
}

test("a break that the store could not be reached for is forced again", async (t) => {
  const { files, timer, next } = await filesTold();
  await files.create("file", 10);
  await files.openDone("file", lease(RHW));
  const read = get(files, 2 * BREAK_MS_MAX);
  await next();
  const bothRun = async () => {
    for (let tries = 0; tries < 100 && timer.running < 2; tries++) await new Promise(setImmediate);
    assert.equal(timer.running, 2);
  };
  await bothRun();
  const { mock } = t.mock.method(files.store, "transact", () =>
    Promise.reject(new StoreError("unreachable", "gone")),
  );
  timer.pass(BREAK_MS_MAX);
  await bothRun();
  mock.restore();
  timer.pass(1_000);
  await read;
});

test("an operation that waits too long for a client is refused, and the client may still answer", async () => {
  const { files, timer, next } = await filesTold();
  await files.create("file", 10);
  await files.open("file", lease(RHW));
  const read = assert.rejects(get(files, 1_000), refused("ClientCacheFlushDelay"));
  const { item, owner } = await next();
  // The wait begins after the notice.
  while (timer.running < 2) await Promise.resolve();
  timer.pass(1_000);
  await read;
  const { at } = files.at("file");
  const asked = { kind: "lease", at, owner, state: READ_CACHING | HANDLE_CACHING } as const;
  assert.equal(await acknowledgeBreak(files.context, asked), "acknowledged");
  assert.equal(item.id > 0n, true);
  await get(files, 0);
});

test("a lease key belongs to one file, until its last handle is closed", async () => {
  const { files } = await filesTold();
  await files.create("file", 10);
  await files.create("other", 10);
  const one = await files.open("file", lease(RHW));
  const two = await files.open("file", lease(RHW));
  await assert.rejects(files.open("other", lease(RHW)), refused("InvalidInput"));
  await files.close(one);
  await assert.rejects(files.open("other", lease(RHW)), refused("InvalidInput"));
  await files.close(two);
  await files.close(await files.open("other", lease(RHW)));
  assert.equal(await files.recordsOfOpens(), 0);
});

test("an oplock ends with its handle, a lease with the last of several", async () => {
  const { files } = await filesTold();
  await files.create("file", 10);
  const caching = { kind: "oplock", wanted: RHW } as const;
  const one = await files.openDone("file", { caching });
  assert.equal(one.caching?.state, RHW);
  await files.close({ at: files.at("").at, item: one.item.id, handle: one.handle });
  const two = await files.openDone("file", { caching });
  assert.equal(two.caching?.state, RHW);
  await files.close({ at: files.at("").at, item: two.item.id, handle: two.handle });
  assert.equal(await files.recordsOfOpens(), 0);
});

test("opens with the same lease key do not conflict, others do", async () => {
  const { files } = await filesTold();
  await files.create("file", 10);
  assert.equal((await files.openDone("file", lease(RHW))).caching?.state, RHW);
  assert.equal((await files.openDone("file", lease(RHW))).caching?.state, RHW);
  const look = { mode: { access: 0, share: ALL }, looksAt: "attributes" } as const;
  await files.open("file", look);
  assert.equal((await files.openDone("file", lease(RHW))).caching?.state, RHW);
});
