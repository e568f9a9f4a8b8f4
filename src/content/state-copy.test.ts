import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { wholeBody } from "../base/bytes.ts";
import { ManualClock } from "../base/clock.ts";
import { key, SPACE } from "../base/keys.ts";
import { MemoryExtents } from "../engine/memory/extents.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import type { Store } from "../store/store.ts";
import { type Origin, originOf, readOrigins } from "./extent-origins.ts";
import { type CopiedPart, copyState } from "./state-copy.ts";

const ACCOUNTS = 2_000;
const START = 100;

function accountKey(index: number): Bytes {
  return key(SPACE.entity, BigInt(index));
}

function amountOf(value: Bytes | null | undefined): number {
  return value === null || value === undefined ? 0 : value.readUInt32LE();
}

function amount(value: number): Bytes {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Moves amounts between accounts; the sum never changes. An empty account has no record. */
async function transfer(store: Store, from: number, to: number): Promise<void> {
  await store.transact((tx) => {
    const left = amountOf(tx.get(accountKey(from)));
    if (left === 0 || from === to) return;
    if (left === 1) tx.delete(accountKey(from));
    else tx.set(accountKey(from), amount(left - 1));
    tx.set(accountKey(to), amount(amountOf(tx.get(accountKey(to))) + 1));
  });
}

async function filledStore(): Promise<Store> {
  const store = new MemoryStore(new ManualClock(1_700_000_000_000));
  await store.transact((tx) => {
    for (let at = 0; at < ACCOUNTS; at++) tx.set(accountKey(at), amount(START));
  });
  return store;
}

/** Applies the passes of a copy in order, and writes to the store between its parts. */
async function copied(
  store: Store,
  between: (part: CopiedPart) => Promise<void>,
  extents = new MemoryExtents(),
): Promise<{ records: Map<string, Bytes>; passes: number; end: CopiedPart }> {
  const records = new Map<string, Bytes>();
  let passes = 1;
  for await (const part of copyState(store, extents, "first")) {
    await between(part);
    if (part.is === "pass") passes++;
    if (part.is === "end") return { records, passes, end: part };
    if (part.is !== "records") continue;
    for (const { key: at, value } of part.records) {
      const name = at.toString("hex");
      if (value === null) records.delete(name);
      else records.set(name, Buffer.from(value));
    }
  }
  throw new Error("a copy has no end");
}

test("a copy is one state, however others write meanwhile", async () => {
  const store = await filledStore();
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    // Its low bits repeat soon.
    return Math.floor(seed / 65_536) % ACCOUNTS;
  };
  let last = new Map<string, number>();
  const { records, passes } = await copied(store, async (part) => {
    // Nothing is written between the last transaction and its part: this is the state to compare.
    if (part.is === "pass") last = await stateOf(store);
    if (part.is !== "records") return;
    for (let count = 0; count < 100; count++) await transfer(store, random(), random());
  });
  const entities = [...records].filter(([name]) => name.startsWith(prefixOf(SPACE.entity)));
  const sum = entities.reduce((all, [, value]) => all + amountOf(value), 0);
  assert.equal(sum, ACCOUNTS * START, "no transfer is in it by half");
  assert.deepEqual(new Map(entities.map(([name, value]) => [name, amountOf(value)])), last);
  assert.ok(passes > 2, "it took corrections");
});

async function stateOf(store: Store): Promise<Map<string, number>> {
  const from = key(SPACE.entity);
  const until = key(SPACE.doomedTable);
  const found = await store.read((view) => view.range(from, until, { limit: ACCOUNTS }));
  return new Map(found.map((entry) => [entry.key.toString("hex"), amountOf(entry.value)]));
}

function prefixOf(space: number): string {
  return space.toString(16).padStart(2, "0");
}

test("a copy ends although writers never pause, and has all that was acknowledged before it", async () => {
  const store = await filledStore();
  await store.transact((tx) => tx.set(accountKey(ACCOUNTS), amount(1)));
  let round = 0;
  const { records, passes } = await copied(store, async (part) => {
    if (part.is !== "records") return;
    // More changes than one transaction would read at first.
    await store.transact((tx) => {
      for (let at = 0; at < 600; at++) tx.set(accountKey(at), amount(START + (round++ % 50)));
    });
  });
  assert.ok(records.has(accountKey(ACCOUNTS).toString("hex")));
  assert.ok(passes > 4 && passes < 12, `${passes} passes`);
});

test("extents that a copy names stay pinned until it is ended, new ones included", async () => {
  const store = await filledStore();
  const extents = new MemoryExtents(64 * 1024);
  const first = await extents.write(wholeBody(Buffer.alloc(20_000)));
  const copy = copyState(store, extents, "first");
  await copy.next();
  await copy.next();
  const second = await extents.write(wholeBody(Buffer.alloc(60_000)));
  for (let step = await copy.next(); step.value?.is !== "end"; step = await copy.next()) {}
  assert.equal((await copy.next()).value?.is, "held");
  first.release();
  second.release();
  assert.ok(extents.list().every(({ pinned }) => pinned));
  assert.ok(extents.list().length > 1);
  await copy.return();
  assert.ok(extents.list().every(({ pinned }) => !pinned));
});

test("a copy notes how far extents are copied, under an origin that stays the same", async () => {
  const store = await filledStore();
  const extents = new MemoryExtents();
  const written = await extents.write(wholeBody(Buffer.alloc(20_000)));
  written.release();
  const { end, records } = await copied(store, async () => {}, extents);
  assert.ok(end.is === "end" && end.stamp > 0n);
  const [origin] = await store.read(readOrigins);
  assert.deepEqual([origin?.id, origin?.extent], ["first", 1]);
  assert.ok((origin?.offset ?? 0) >= 20_000);
  assert.ok(records.has(key(SPACE.extentOrigins).toString("hex")), "the note is in the copy");
  await copied(store, async () => {}, extents);
  assert.equal((await store.read(readOrigins)).length, 1);
});

test("bytes belong to the origin before whose end they lie, else to the last", () => {
  const origins: Origin[] = [
    { id: "a", extent: 3, offset: 100 },
    { id: "b", extent: 5, offset: 0 },
    { id: "c", extent: 4, offset: 0 },
  ];
  for (const [extent, offset, id] of [
    [1, 999, "a"],
    [3, 99, "a"],
    [3, 100, "b"],
    [4, 0, "b"],
    [5, 0, "c"],
    [9, 0, "c"],
  ] as const) {
    assert.equal(originOf(origins, extent, offset), id, `${extent}/${offset}`);
  }
  assert.equal(originOf([{ id: "a", extent: 3, offset: 100 }], 1, 0), "a");
});
