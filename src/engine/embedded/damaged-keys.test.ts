import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { DATABASE_FILE } from "./database-file.ts";
import { openLmdb } from "./lmdb.ts";
import { SealedRecords } from "./sealed-records.ts";
import { openEmbeddedStore } from "./store.ts";

/** Enough to fill several pages. The spaces before and behind have records, too. */
const RECORDS = 120;
const BEFORE = key(SPACE.container, "account", "box");
const BEHIND = key(SPACE.queue, "account", "queue");
const FROM = key(SPACE.blob, "account", "box");
const UNTIL = key(SPACE.blob, "account", "boxes");

function keyOf(number: number): Bytes {
  return key(SPACE.blob, "account", "box", `blob ${String(number).padStart(3, "0")}`);
}

const KEYS = Array.from({ length: RECORDS }, (_, number) => keyOf(number));

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-keys-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** The positions of these bytes in the file. */
function placesOf(path: string, bytes: Bytes): number[] {
  const file = readFileSync(path);
  const places: number[] = [];
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) places.push(at);
  return places;
}

/** Changes the file; LMDB sees it at once, because it maps the file. */
function writeAt(path: string, bytes: Bytes, place: number): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, place);
  closeSync(file);
}

function flipped(bytes: Bytes, bit: number): Bytes {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}

function damage(path: string, whole: Bytes, bit: number): void {
  for (const place of placesOf(path, whole)) writeAt(path, flipped(whole, bit), place);
}

/** Null if the read reports damage. */
function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert.equal((error as { kind?: string }).kind, "damaged", String(error));
    return null;
  }
}

test("a flipped bit in a key never hides a record: reads that touch it report damage", async (t) => {
  const folder = await newFolder(t);
  const path = join(folder, DATABASE_FILE);
  const lmdb = await openLmdb(folder);
  t.after(() => lmdb.close());
  const writer = new SealedRecords(lmdb);
  await lmdb.transaction(() => {
    for (const at of [BEFORE, ...KEYS, BEHIND]) writer.put(at, Buffer.alloc(200, 7));
  });
  lmdb.resetReadTxn();
  const scans = [
    [FROM, UNTIL],
    [keyOf(31), UNTIL],
    [keyOf(32), keyOf(90)],
    [FROM, keyOf(33)],
  ] as const;
  const hex = (at: Bytes) => at.toString("hex");
  const wanted = scans.map(([from, until]) =>
    KEYS.filter((at) => at.compare(from) >= 0 && at.compare(until) < 0).map(hex),
  );
  let damaged = 0;
  const assertAllOrDamaged = (what: string) => {
    // One for all reads of this damage, because making one costs more than all of them. It is
    // as good as new for each read: it forgets what it proved, and no record is read twice.
    const records = new SealedRecords(lmdb);
    const asNew = () => {
      records.lookAnew();
      records.forgetMisses();
      return records;
    };
    for (const [number, [from, until]] of scans.entries()) {
      const all = wanted[number] as string[];
      for (const reverse of [false, true]) {
        const found = unlessDamaged(() => {
          const entries = asNew().scan(from, until, reverse);
          return Array.from(entries, (entry) => hex(entry.key));
        });
        if (found === null) damaged++;
        else assert.deepEqual(found, reverse ? all.toReversed() : all, what);
      }
    }
    for (const at of KEYS) {
      const found = unlessDamaged(() => {
        const value = asNew().get(at);
        if (value === undefined) records.proveMisses();
        return value ?? "missing";
      });
      if (found === "missing") assert.fail(`${what}: ${hex(at)} is missing`);
    }
  };
  // Keys are in leaf pages, and some are also in branch pages.
  const keys = KEYS.filter((at, number) => number % 40 === 1 || placesOf(path, at).length > 1);
  for (const whole of keys) {
    for (const place of placesOf(path, whole)) {
      for (let bit = 0; bit < 8 * whole.length; bit++) {
        writeAt(path, flipped(whole, bit), place);
        assertAllOrDamaged(`bit ${bit} of ${hex(whole)} at ${place}`);
        writeAt(path, whole, place);
      }
    }
  }
  assert.ok(damaged > 0);
  damaged = 0;
  assertAllOrDamaged("nothing");
  assert.equal(damaged, 0);
});

test("a record whose key is damaged is never reported as missing", async (t) => {
  const folder = await newFolder(t);
  const store = await openEmbeddedStore(folder, systemClock, assert.fail);
  await store.transact((tx) => {
    for (const at of KEYS) tx.set(at, Buffer.alloc(200, 7));
  });
  await store.close();
  const path = join(folder, DATABASE_FILE);
  const whole = keyOf(60);
  damage(path, whole, 8 * whole.length - 9);
  const after = await openEmbeddedStore(folder, systemClock, assert.fail);
  t.after(() => after.close());
  const refuse = (at: Bytes) => () => {
    throw new Error(`there is no ${at.toString("hex")}`);
  };
  const ask = (at: Bytes) => after.read((view) => view.get(at) ?? refuse(at)());
  await assert.rejects(ask(whole), { kind: "damaged" });
  await assert.rejects(
    after.transact((tx) => tx.get(whole) ?? refuse(whole)()),
    { kind: "damaged" },
  );
  assert.equal((await ask(keyOf(20))).length, 200);
  await assert.rejects(ask(key(SPACE.blob, "account", "box", "blob 020x")), /there is no/);
});

test("a store whose own records have damaged keys is not opened", async (t) => {
  for (const name of ["log-secret", "milestone"]) {
    const folder = await newFolder(t);
    const store = await openEmbeddedStore(folder, systemClock, assert.fail);
    await store.transact((tx) => tx.set(keyOf(0), Buffer.from("x")));
    await store.close();
    const path = join(folder, DATABASE_FILE);
    const whole = key(SPACE.engine, name);
    damage(path, whole, 20);
    await assert.rejects(openEmbeddedStore(folder, systemClock, assert.fail), { kind: "damaged" });
  }
});
