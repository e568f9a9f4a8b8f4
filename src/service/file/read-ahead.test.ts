import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { copyAndRelease } from "../../base/borrowed-buffer.ts";
import { MIB } from "../../base/limits.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import type { Reading } from "../../store/content.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { ALL, Files } from "./opens.fixture.ts";
import { BYTES_AHEAD_MAX, ReadAhead } from "./read-ahead.ts";
import { readOpenFile } from "./read-open-file.ts";
import { resizeOpenFile } from "./set-open-item.ts";
import { writeOpenFile } from "./write-open-file.ts";

const IDLE_MS = 2_000;
const PARTS = 6;
/** Far more iterations of the event loop than reading a part takes. */
const ITERATIONS_MAX = 1_000_000;

/** A file of parts of one mebibyte, which records which parts are opened. */
class Watched {
  readonly files: Files;
  readonly handle: HandleAsked;
  readonly bytes = someBytes(PARTS * MIB, 1);
  /** The parts opened since the last look, and all that are still open. */
  #opened: number[] = [];
  readonly open = new Set<Reading>();
  /** The parts whose bytes were asked for, as often as they were. */
  readonly started: number[] = [];
  readonly #budget = new MemoryBudget(BYTES_AHEAD_MAX);

  private constructor(t: TestContext, files: Files, handle: HandleAsked) {
    this.files = files;
    this.handle = handle;
    const { contents } = files.context;
    const open = contents.open.bind(contents);
    t.mock.method(contents, "open", (...asked: Parameters<typeof open>) => {
      const reading = open(...asked);
      const close = reading.close.bind(reading);
      const borrow = reading.borrow.bind(reading);
      let isStarted = false;
      reading.borrow = (bytes) => {
        if (!isStarted) this.started.push(asked[2] / MIB);
        isStarted = true;
        return borrow(bytes);
      };
      this.#opened.push(asked[2] / MIB);
      this.open.add(reading);
      reading.close = () => {
        this.open.delete(reading);
        close();
      };
      return reading;
    });
  }

  /** Tests that count opened parts run each body once. */
  static async of(t: TestContext, runsTwice = true): Promise<Watched> {
    const files = await Files.open(runsTwice ? { alone: true } : { inMemory: (store) => store });
    await files.create("file");
    const handle = await files.open("file", { mode: { access: ALL, share: ALL } });
    const watched = new Watched(t, files, handle);
    for (let part = 0; part < PARTS; part++) await watched.write(part);
    return watched;
  }

  get opened(): number[] {
    return this.#opened.splice(0);
  }

  write(part: number, bytes = this.bytes.subarray(part * MIB, (part + 1) * MIB)): Promise<unknown> {
    const asked = { from: part * MIB, bytes, preservesWritten: false };
    return writeOpenFile(this.files.context, { ...this.handle, ...asked });
  }

  async read(ahead: ReadAhead, part: number, length = MIB): Promise<Buffer> {
    const asked = { ...this.handle, from: part * MIB, length, ahead };
    const borrowed = await readOpenFile(this.files.context, asked);
    return borrowed === null ? Buffer.alloc(0) : copyAndRelease(borrowed);
  }

  /** Waits until no part is open, or will not be released any more. */
  async released(): Promise<void> {
    // A part is released when it has been read, which takes a while where bytes are elsewhere.
    for (let at = 0; this.open.size > 0 && at < ITERATIONS_MAX; at++) await released();
  }

  newReadAhead(): ReadAhead {
    return new ReadAhead(IDLE_MS, this.#budget);
  }

  /** A reader that has read so much that the next parts are being read ahead. */
  async reader(): Promise<ReadAhead> {
    const ahead = this.newReadAhead();
    await this.expect(ahead, 0);
    await this.expect(ahead, 1);
    return ahead;
  }

  async expect(ahead: ReadAhead, part: number, bytes = this.bytes): Promise<void> {
    const expected = bytes.subarray(part * MIB, (part + 1) * MIB);
    assert.ok((await this.read(ahead, part)).equals(expected), `part ${part}`);
  }
}

test("a sequential reader finds the next parts already being read, up to the end", async (t) => {
  const file = await Watched.of(t, false);
  const ahead = file.newReadAhead();
  const begun: number[][] = [];
  for (let part = 0; part < PARTS; part++) {
    await file.expect(ahead, part);
    begun.push(file.opened.slice(1));
  }
  assert.deepEqual(begun, [[], [2, 3], [4], [5], [], []]);
  assert.equal(file.open.size, 0);
});

test("parts are read after the body, and once, however often it runs", async (t) => {
  const file = await Watched.of(t);
  const ahead = file.newReadAhead();
  for (let part = 0; part < PARTS; part++) await file.expect(ahead, part);
  assert.deepEqual(file.started.sort(), [0, 1, 2, 3, 4, 5]);
  assert.equal(file.open.size, 0);
});

test("random reads are not read ahead", async (t) => {
  const file = await Watched.of(t, false);
  const ahead = file.newReadAhead();
  for (const part of [0, 2, 1, 4, 3, 0]) await file.expect(ahead, part);
  assert.deepEqual(file.opened, [0, 2, 1, 4, 3, 0]);
  await file.read(ahead, 0, MIB / 2);
  assert.equal((await file.read(ahead, 0.5, MIB / 2)).length, MIB / 2, "small reads");
  assert.deepEqual(file.opened, [0, 0.5]);
});

test("two concurrent reads each get their own bytes", async (t) => {
  const file = await Watched.of(t);
  const ahead = file.newReadAhead();
  await file.expect(ahead, 0);
  for (const part of [1, 3]) {
    await Promise.all([file.expect(ahead, part), file.expect(ahead, part + 1)]);
  }
  await file.expect(ahead, 5);
  assert.equal(file.open.size, 0);
});

test("a write after the read-ahead is visible to the reader", async (t) => {
  const file = await Watched.of(t);
  const ahead = await file.reader();
  assert.ok(file.open.size > 0, "something is read ahead");
  await file.write(2, Buffer.from("new"));
  file.bytes.write("new", 2 * MIB);
  await file.expect(ahead, 2);
  await file.write(4, someBytes(MIB, 9));
  file.bytes.set(someBytes(MIB, 9), 4 * MIB);
  for (const part of [3, 4, 5]) await file.expect(ahead, part);
  assert.equal(file.open.size, 0);
});

test("a truncated part is not returned", async (t) => {
  const file = await Watched.of(t);
  const ahead = await file.reader();
  const asked = { length: 2 * MIB + 5, neverGrows: false, preservesWritten: false };
  await resizeOpenFile(file.files.context, { ...file.handle, ...asked });
  assert.deepEqual(await file.read(ahead, 2), file.bytes.subarray(2 * MIB, 2 * MIB + 5));
  assert.equal((await file.read(ahead, 3)).length, 0);
  ahead.drop();
  await file.released();
  assert.equal(file.open.size, 0);
});

test("unused parts are released: after a jump, after a while, and at the end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const file = await Watched.of(t);
  const leave: ((ahead: ReadAhead) => unknown)[] = [
    (ahead) => file.expect(ahead, 5),
    () => t.mock.timers.tick(IDLE_MS),
    (ahead) => ahead.drop(),
  ];
  for (const leaves of leave) {
    const ahead = await file.reader();
    assert.equal(file.open.size, 2);
    await leaves(ahead);
    await file.released();
    assert.equal(file.open.size, 0);
  }
});

test("a reader that is too slow is no longer read ahead", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const file = await Watched.of(t, false);
  const ahead = await file.reader();
  await file.expect(ahead, 2);
  t.mock.timers.tick(IDLE_MS);
  await released();
  assert.ok(file.opened.length > 0);
  for (const part of [3, 4, 5]) await file.expect(ahead, part);
  assert.deepEqual(file.opened, [3, 4, 5]);
});

test("the bytes read ahead by all readers together are limited", async (t) => {
  const file = await Watched.of(t, false);
  const readers = BYTES_AHEAD_MAX / (2 * MIB) + 3;
  const all: ReadAhead[] = [];
  while (all.length < readers) all.push(await file.reader());
  assert.equal(file.open.size * MIB, BYTES_AHEAD_MAX);
  for (const ahead of all) ahead.drop();
  await released();
  assert.equal(file.open.size, 0);
  const ahead = await file.reader();
  assert.equal(file.open.size, 2, "there is room again");
  ahead.drop();
});

/** Waits until all dropped parts are released. */
function released(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
