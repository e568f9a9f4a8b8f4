import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Bytes, wholeBody } from "../base/bytes.ts";
import { type ContentsFixture, NO_DIGESTS } from "../content/contents.fixture.ts";
import { gather, someBytes } from "./bodies.fixture.ts";
import type { Content, Reading } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Range, Ranges } from "./range-map.ts";
import type { View } from "./store.ts";

const kinds = [
  ...["write", "write", "write", "write", "write", "write", "write", "write", "large", "row"],
  ...["clear", "clear", "place", "resize", "snapshot", "drop", "create", "replace"],
  ...["read", "ranges", "changes", "open", "close", "sweep", "sweep"],
] as const;

const operation = fc.record({
  kind: fc.constantFrom(...kinds),
  /** Chooses a map, a snapshot or an offset. */
  pick: fc.nat(10_000),
  /** Half of the offsets lie close together, so that writes overlap. */
  at: fc.oneof(fc.nat(20_000), fc.nat(300_000)),
  length: fc.integer({ min: 1, max: 700 }),
});

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Compares random operations with a model that has nothing but arrays, with sweeps in between. */
export function rangeMapModelContract(engine: string, runs: number, open: OpenContents): void {
  test(`maps on ${engine}: 1,500 random operations per run agree with a model`, async (t) => {
    const operations = fc.array(operation, { minLength: 1_500, maxLength: 1_500 });
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const world = new World(await open(t));
        for (const [at, each] of list.entries()) await world.run(each, at);
        await world.finish();
      }),
      // Shrinking runs of this length would take hours; the seed is printed.
      { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
    );
  });
}

/** Marks: what happened to a byte. */
const UNTOUCHED = 0;
const WRITTEN = 1;
const CLEARED = 2;

class Model {
  content: Content;
  bytes: Bytes;
  /** Since the map was created. */
  marks: Uint8Array;
  /** Since each snapshot was taken. */
  readonly since = new Map<Model, Uint8Array>();

  constructor(content: Content, bytes: Bytes, marks: Uint8Array) {
    this.content = content;
    this.bytes = bytes;
    this.marks = marks;
  }

  mark(from: number, until: number, mark: number): void {
    for (const marks of [this.marks, ...this.since.values()]) marks.fill(mark, from, until);
  }

  resize(length: number): void {
    this.bytes = resized(this.bytes, length);
  }
}

function resized(bytes: Uint8Array, length: number): Bytes {
  const next = Buffer.alloc(length);
  next.set(bytes.subarray(0, length));
  return next;
}

/** No map gets longer than this. */
const LENGTH_MAX = 500_000;

class World {
  readonly #fixture: ContentsFixture;
  readonly #maps: Model[] = [];
  readonly #snapshots: Model[] = [];
  readonly #open: { reading: Reading; bytes: Bytes }[] = [];
  #sweeps: Promise<unknown> = Promise.resolve();

  constructor(fixture: ContentsFixture) {
    this.#fixture = fixture;
  }

  async run(operation: Operation, seed: number): Promise<void> {
    const { kind, pick } = operation;
    // Not awaited, so that the next operations run concurrently.
    if (kind === "sweep")
      this.#sweeps = Promise.all([this.#sweeps, this.#fixture.contents.sweep()]);
    if (this.#maps.length === 0 || (kind === "create" && this.#maps.length < 3)) {
      await this.#create(operation.at);
    }
    const map = this.#maps[pick % this.#maps.length] as Model;
    await this.#change(map, operation, seed);
    await this.#read(map, operation);
  }

  /** Drops everything, and checks that no record and no byte is left. */
  async finish(): Promise<void> {
    await this.#sweeps;
    await this.#fixture.sweepAll();
    for (const model of [...this.#maps, ...this.#snapshots]) await this.#check(model);
    while (this.#open.length > 0) await this.#close(0);
    for (const { content } of [...this.#maps, ...this.#snapshots])
      await this.#fixture.drop(content);
    await this.#fixture.sweepAll();
    await this.#fixture.assertNothingLeft();
  }

  async #create(length: number): Promise<void> {
    const { store, contents } = this.#fixture;
    const content = await store.transact((tx) => contents.maps.create(tx, length));
    this.#maps.push(new Model(content, Buffer.alloc(length), new Uint8Array(LENGTH_MAX)));
  }

  async #change(map: Model, { kind, pick, at, length }: Operation, seed: number): Promise<void> {
    const { store, contents } = this.#fixture;
    if (kind === "write") await this.#write(map, at, someBytes(length, seed));
    if (kind === "row") await this.#writeRow(map, at, pick % 40, length, seed);
    if (kind === "large") await this.#write(map, at, someBytes(20_000 + length * 100, seed));
    if (kind === "clear") {
      const until = Math.max(at, Math.min(at + length * (pick % 40), map.bytes.length));
      map.content = await store.transact((tx) => contents.maps.clear(tx, map.content, at, until));
      if (at < until) map.bytes.fill(0, at, until);
      map.mark(at, until, CLEARED);
    }
    if (kind === "resize") {
      map.content = await store.transact((tx) => contents.maps.resize(tx, map.content, at));
      if (at < map.bytes.length) map.mark(at, map.bytes.length, CLEARED);
      map.resize(at);
    }
    if (kind === "place") await this.#place(map, at, pick, length * 100);
    if (kind === "replace") await this.#replace(map, at, pick % 4, someBytes(length, seed));
    if (kind === "snapshot") await this.#snapshot(map);
    if (kind === "drop") await this.#drop(pick);
  }

  /** Writes consecutive pieces in ascending order. */
  async #writeRow(map: Model, from: number, count: number, length: number, seed: number) {
    for (let piece = 0; piece < count; piece++) {
      await this.#write(map, from + piece * length, someBytes(length, seed + piece));
    }
  }

  async #write(map: Model, at: number, bytes: Bytes): Promise<void> {
    const { store, contents } = this.#fixture;
    const taken = await contents.take(wholeBody(bytes), NO_DIGESTS);
    map.content = await store.transact((tx) => contents.maps.write(tx, map.content, at, taken));
    taken.release();
    map.resize(Math.max(map.bytes.length, at + bytes.length));
    map.bytes.set(bytes, at);
    map.mark(at, at + bytes.length, WRITTEN);
    assert.equal(map.content.length, map.bytes.length);
  }

  /** Replaces a map by one with a body as long as the map, with a shorter body, or with none. */
  async #replace(map: Model, length: number, choice: number, bytes: Bytes): Promise<void> {
    const { store, contents } = this.#fixture;
    const body = choice === 0 ? Buffer.alloc(0) : bytes;
    const taken = choice === 0 ? null : await contents.take(wholeBody(body), NO_DIGESTS);
    const long = choice === 1 ? length : body.length;
    map.content = await store.transact((tx) => contents.maps.create(tx, long, taken, map.content));
    taken?.release();
    map.since.clear();
    map.marks.fill(UNTOUCHED);
    map.bytes = resized(body, Math.max(long, body.length));
    map.mark(0, body.length, WRITTEN);
    assert.equal(map.content.length, map.bytes.length);
  }

  /** Places bytes of another map, of a snapshot or of the same map. */
  async #place(map: Model, at: number, pick: number, lengthMax: number): Promise<void> {
    const { store, contents } = this.#fixture;
    const sources = [...this.#maps, ...this.#snapshots];
    const { content, bytes, marks } = sources[pick % sources.length] as Model;
    const from = pick % (bytes.length + 1);
    const length = Math.min(lengthMax, bytes.length - from, LENGTH_MAX - at);
    const shown = Buffer.from(bytes.subarray(from, from + length));
    const touched = marks.slice(from, from + length);
    const placed = await store.transact((tx) =>
      contents.maps.place(tx, map.content, at, content, from, length),
    );
    map.content = placed ?? assert.fail("too many pieces");
    map.resize(Math.max(map.bytes.length, at + length));
    map.bytes.set(shown, at);
    // A place clears what it does not write.
    map.mark(at, at + length, CLEARED);
    for (const { start, end, isCleared } of rangesIn(touched)) {
      if (!isCleared) map.mark(at + start, at + end, WRITTEN);
    }
    assert.equal(map.content.length, map.bytes.length);
  }

  async #snapshot(map: Model): Promise<void> {
    await this.#fixture.share(map.content);
    const snapshot = new Model(map.content, Buffer.from(map.bytes), map.marks.slice());
    this.#snapshots.push(snapshot);
    map.since.set(snapshot, new Uint8Array(LENGTH_MAX));
  }

  /** Drops a snapshot, or a map whose snapshots stay. */
  async #drop(pick: number): Promise<void> {
    const all = pick % 5 === 0 ? this.#maps : this.#snapshots;
    const [dropped] = all.splice(pick % (all.length + 1), 1);
    if (dropped === undefined) return;
    for (const map of this.#maps) map.since.delete(dropped);
    await this.#fixture.drop(dropped.content);
  }

  async #read(map: Model, { kind, pick, at, length }: Operation): Promise<void> {
    const { store, contents } = this.#fixture;
    if (kind === "read") await this.#check(map);
    if (kind === "ranges") {
      const found = await pages((view, from) =>
        contents.maps.ranges(view, map.content, from, LENGTH_MAX, 1 + (pick % 20)),
      )(store);
      const expected = rangesIn(map.marks).filter(({ isCleared }) => !isCleared);
      assert.deepEqual(found, expected);
    }
    const [snapshot, marks] = [...map.since][pick % (map.since.size || 1)] ?? [];
    if (kind === "changes" && snapshot !== undefined && marks !== undefined) {
      const found = await pages((view, from) => {
        const { content } = snapshot;
        const limit = 1 + (pick % 20);
        const page = contents.maps.changes(view, map.content, content, from, LENGTH_MAX, limit);
        return page ?? assert.fail("the snapshot is not an earlier state of this map");
      })(store);
      assert.deepEqual(found, rangesIn(marks));
    }
    if (kind === "open") await this.#openPart(map, Math.min(at, map.bytes.length), length * 200);
    if (kind === "close") await this.#close(pick);
  }

  async #openPart(map: Model, from: number, lengthMax: number): Promise<void> {
    const length = Math.min(lengthMax, map.bytes.length - from);
    const reading = await this.#fixture.open(map.content, from, length);
    assert.ok(reading.isStable);
    this.#open.push({ reading, bytes: Buffer.from(map.bytes.subarray(from, from + length)) });
  }

  async #close(pick: number): Promise<void> {
    const [open] = this.#open.splice(pick % (this.#open.length + 1), 1);
    if (open === undefined) return;
    const bytes = await gather(open.reading);
    assert.ok(bytes.equals(open.bytes));
    open.reading.close();
  }

  async #check(model: Model): Promise<void> {
    const found = await this.#fixture.read(model.content);
    assert.ok(found.equals(model.bytes));
  }
}

/** All pages of a list of ranges, with neighbours merged across pages. */
function pages(page: (view: View, from: number) => Ranges) {
  return async (store: ContentsFixture["store"]): Promise<Range[]> => {
    const all: Range[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const start: number = from;
      const { found, next } = await store.read((view) => page(view, start));
      for (const range of found) addRange(all, range);
      from = next;
    }
    return all;
  };
}

function addRange(all: Range[], range: Range): void {
  const last = all.at(-1);
  if (last?.end === range.start && last.isCleared === range.isCleared) {
    all[all.length - 1] = { ...last, end: range.end };
  } else all.push(range);
}

function rangesIn(marks: Uint8Array): Range[] {
  const ranges: Range[] = [];
  for (let start = 0, end = 0; start < marks.length; start = end) {
    while (end < marks.length && marks[end] === marks[start]) end++;
    if (marks[start] !== UNTOUCHED)
      ranges.push({ start, end, isCleared: marks[start] === CLEARED });
  }
  return ranges;
}
