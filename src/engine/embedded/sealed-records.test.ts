import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { lmdbWith } from "./lmdb.fixture.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { SealedRecords } from "./sealed-records.ts";

async function openFor(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-records-"));
  const lmdb = await openLmdb(folder);
  t.after(async () => {
    await lmdb.close();
    await rm(folder, { recursive: true });
  });
  return lmdb;
}

/** Opens records and counts the calls to LMDB. */
async function openCounted(t: TestContext) {
  const lmdb = await openFor(t);
  const asked = { times: 0 };
  const counted = lmdbWith(lmdb, {
    get: (at: Bytes) => {
      asked.times++;
      return lmdb.get(at);
    },
    getRange: (range) => {
      asked.times++;
      return lmdb.getRange(range);
    },
  });
  return { lmdb, records: new SealedRecords(counted), asked };
}

async function committed(lmdb: Lmdb, change: () => void): Promise<void> {
  await lmdb.transaction(change);
  lmdb.resetReadTxn();
}

const shareKey = (number: number) => key(SPACE.share, "account", `share ${number}`);

test("a cached record is never stale after it was put, changed or removed", async (t) => {
  const lmdb = await openFor(t);
  const records = new SealedRecords(lmdb);
  const at = key(SPACE.share, "account", "share");
  const changes: [() => void, string | undefined][] = [
    [() => {}, undefined],
    [() => records.put(at, Buffer.from("new")), "new"],
    [() => records.put(at, Buffer.from("changed")), "changed"],
    [() => records.remove(at), undefined],
  ];
  for (const [change, expected] of changes) {
    await committed(lmdb, change);
    // Twice: once from LMDB, and once from the cache.
    for (let time = 0; time < 2; time++) assert.equal(records.get(at)?.toString(), expected);
  }
});

test("LMDB is not asked to remove a key behind its last one, and is for others", async (t) => {
  const lmdb = await openFor(t);
  const removed: Bytes[] = [];
  const counted = lmdbWith(lmdb, {
    removeSync: (at: Bytes) => {
      removed.push(at);
      return lmdb.removeSync(at);
    },
  });
  const records = new SealedRecords(counted);
  const [first, second, third] = [1, 2, 3].map(shareKey) as [Bytes, Bytes, Bytes];
  await committed(lmdb, () => records.put(second, Buffer.from("here")));
  records.lookAnew();
  records.findEnd(SPACE.share);
  await committed(lmdb, () => records.remove(third));
  assert.deepEqual(removed, []);
  await committed(lmdb, () => {
    for (const at of [first, second]) records.remove(at);
  });
  assert.deepEqual(removed, [first, second]);
  assert.equal(records.get(second), undefined);
  // The put has moved the end of the space, even if nothing has looked it up.
  await committed(lmdb, () => {
    records.put(third, Buffer.from("new"));
    records.remove(third);
  });
  assert.equal(records.get(third), undefined);
});

test("a scan may begin at a record that was removed or added since", async (t) => {
  const lmdb = await openFor(t);
  const records = new SealedRecords(lmdb);
  const of = shareKey;
  const changes: [() => void, number][] = [
    [() => [1, 2, 3].map((number) => records.put(of(number), Buffer.from("here"))), 2],
    [() => records.remove(of(2)), 1],
    [() => records.put(of(2), Buffer.from("again")), 2],
    [() => records.remove(of(2)), 1],
  ];
  for (const [change, expected] of changes) {
    await committed(lmdb, change);
    for (let time = 0; time < 2; time++) {
      assert.equal([...records.scan(of(2), of(9), false)].length, expected);
      assert.equal([...records.scan(of(0), of(2), true)].length, 1);
    }
  }
});

test("LMDB is not asked again about an empty space until something is put there", async (t) => {
  const { lmdb, records, asked } = await openCounted(t);
  const of = shareKey;
  const textOf = (number: number) => records.get(of(number))?.toString();
  const commit = (change: () => void) => committed(lmdb, change);
  // Once for what is before the end of the space, and once for what is behind it.
  const askedOnce = 2;
  for (let number = 0; number < 10; number++) assert.equal(textOf(number), undefined);
  assert.equal(asked.times, askedOnce);

  await commit(() => {
    records.put(of(1), Buffer.from("one"));
    records.remove(of(2));
  });
  assert.equal(textOf(1), "one");
  records.lookAnew();
  assert.equal(textOf(1), "one");

  await commit(() => records.remove(of(1)));
  records.lookAnew();
  asked.times = 0;
  for (let number = 0; number < 10; number++) assert.equal(textOf(number), undefined);
  assert.equal(asked.times, askedOnce);
});

test("LMDB is not asked about keys behind the last one of a space until something is put there", async (t) => {
  const { lmdb, records, asked } = await openCounted(t);
  const of = shareKey;
  const found = (from: number, reverse: boolean) =>
    [...records.scan(of(from), of(9), reverse)].length;
  const commit = (change: () => void) => committed(lmdb, change);
  await commit(() => {
    records.put(of(3), Buffer.from("three"));
    // Keys of the neighbouring spaces, which must not pass as the last key of this one.
    records.put(Buffer.of(SPACE.share - 1, 0xff), Buffer.from("before"));
    records.put(Buffer.of(SPACE.share + 1), Buffer.from("behind"));
  });
  records.lookAnew();
  for (let time = 0; time < 3; time++) {
    assert.equal(records.get(of(4)), undefined);
    assert.equal(found(4, false) + found(4, true), 0);
  }
  // Once for the last key, and once for its successor.
  assert.equal(asked.times, 2);
  assert.equal(records.get(of(3))?.toString(), "three");
  assert.equal(found(3, false), 1);

  await commit(() => records.put(of(7), Buffer.from("seven")));
  assert.equal(records.get(of(7))?.toString(), "seven");
  assert.equal(found(4, false) + found(4, true), 2);
});

test("a lookup while a record is being committed does not hide it afterwards", async (t) => {
  const lmdb = await openFor(t);
  const records = new SealedRecords(lmdb);
  const of = shareKey;
  // The end of the space is unknown, and LMDB reads still return the old state after the body.
  let returned = () => {};
  const hasReturned = new Promise<void>((resolve) => {
    returned = resolve;
  });
  const done = lmdb.transaction(() => {
    records.put(of(7), Buffer.from("seven"));
    returned();
  });
  await hasReturned;
  assert.equal(records.get(of(8)), undefined);
  await done;
  lmdb.resetReadTxn();
  assert.equal(records.get(of(7))?.toString(), "seven");
  assert.equal([...records.scan(of(7), of(9), false)].length, 1);
});

test("a miss that could not be proved does not disturb those after it", async (t) => {
  const lmdb = await openFor(t);
  let isBroken = false;
  const proved: unknown[] = [];
  const breaking = lmdbWith(lmdb, {
    getRange: (range) => {
      if (isBroken) throw new Error("a broken disk");
      proved.push(range?.start);
      return lmdb.getRange(range);
    },
  });
  const records = new SealedRecords(breaking);
  assert.equal(records.get(shareKey(1)), undefined);
  isBroken = true;
  assert.throws(() => records.proveMisses(), /a broken disk/);
  isBroken = false;
  assert.equal(records.get(shareKey(2)), undefined);
  records.proveMisses();
  assert.ok(proved.length > 0 && !proved.includes(undefined));
});
