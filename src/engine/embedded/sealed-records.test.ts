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

/** Counts how often LMDB is asked. */
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

test("a record that was read before it was put, changed or removed is read as it is now", async (t) => {
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
    // Twice: once from LMDB, and once as it was kept.
    for (let time = 0; time < 2; time++) assert.equal(records.get(at)?.toString(), expected);
  }
});

test("what lmdb cannot have is not removed from it, and what it has is", async (t) => {
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
  // Since it ends behind what was put, even if nobody has looked.
  await committed(lmdb, () => {
    records.put(third, Buffer.from("new"));
    records.remove(third);
  });
  assert.equal(records.get(third), undefined);
});

test("a scan may begin where there was a record that has gone, and where there is a new one", async (t) => {
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

test("lmdb is not asked again for what it has nothing of, until something is put there", async (t) => {
  const { lmdb, records, asked } = await openCounted(t);
  const of = shareKey;
  const textOf = (number: number) => records.get(of(number))?.toString();
  const commit = (change: () => void) => committed(lmdb, change);
  // For what is before the space, and for what is in it or behind.
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

test("lmdb is not asked for what is behind the last key of its space, until something is put there", async (t) => {
  const { lmdb, records, asked } = await openCounted(t);
  const of = shareKey;
  const found = (from: number, reverse: boolean) =>
    [...records.scan(of(from), of(9), reverse)].length;
  const commit = (change: () => void) => committed(lmdb, change);
  await commit(() => {
    records.put(of(3), Buffer.from("three"));
    // Of the spaces before and behind: not to be taken for the last one of this.
    records.put(Buffer.of(SPACE.share - 1, 0xff), Buffer.from("before"));
    records.put(Buffer.of(SPACE.share + 1), Buffer.from("behind"));
  });
  records.lookAnew();
  for (let time = 0; time < 3; time++) {
    assert.equal(records.get(of(4)), undefined);
    assert.equal(found(4, false) + found(4, true), 0);
  }
  // Once for the last key, and once for what is behind it.
  assert.equal(asked.times, 2);
  assert.equal(records.get(of(3))?.toString(), "three");
  assert.equal(found(3, false), 1);

  await commit(() => records.put(of(7), Buffer.from("seven")));
  assert.equal(records.get(of(7))?.toString(), "seven");
  assert.equal(found(4, false) + found(4, true), 2);
});

test("what is asked for while a record is on its way into lmdb does not hide it afterwards", async (t) => {
  const lmdb = await openFor(t);
  const records = new SealedRecords(lmdb);
  const of = shareKey;
  // Nothing is known of the space, and once the body has returned LMDB still reads what was there before.
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
