import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import type { CopiedPart } from "../../content/state-copy.ts";
import { MemoryExtents } from "../../engine/memory/extents.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import type { Data } from "../open-data.ts";
import { backupTask } from "./copied-state.ts";
import { decodeParts, decodeRecords, encodeRecord } from "./record-frames.ts";

async function data() {
  const store = new MemoryStore(new ManualClock(1_700_000_000_000));
  await store.transact((tx) => {
    for (let at = 0; at < 3_000; at++) {
      tx.set(key(SPACE.entity, BigInt(at)), Buffer.alloc(1_000, at));
    }
  });
  const extents = new MemoryExtents();
  (await extents.write(wholeBody(Buffer.alloc(20_000)))).release();
  return { store, extents, data: { store, engine: { extents } } as unknown as Data };
}

test("a server hands out its records in answers of a limited size, and holds extents until the end", async () => {
  const { extents, data: served } = await data();
  const task = backupTask(served);
  const parts: CopiedPart[] = [];
  let answers = 0;
  while (parts.at(-1)?.is !== "end") {
    const answer = (await task.next()) as Bytes;
    assert.ok(answer.length < 1.5 * 1024 * 1024, `${answer.length} bytes`);
    parts.push(...decodeParts(answer));
    answers++;
  }
  assert.ok(answers > 2);
  assert.equal(parts[0]?.is, "begin");
  const keys = parts.flatMap((part) => (part.is === "records" ? part.records : []));
  assert.ok(keys.length > 3_000);
  const end = parts.at(-1);
  assert.ok(end?.is === "end" && typeof end.stamp === "bigint");
  for (let count = 0; count < 3; count++) {
    const [held] = decodeParts((await task.next()) as Bytes);
    assert.deepEqual(held, { is: "held" });
    assert.ok(extents.list().every(({ pinned }) => pinned));
  }
  await task.close();
  assert.ok(extents.list().every(({ pinned }) => !pinned));
});

test("data that is not in files is refused with what to do instead", () => {
  const served = { store: null, engine: null } as unknown as Data;
  assert.throws(
    () => backupTask(served),
    /bodies of this data folder are in a bucket: stop the server, then copy the folder and the bucket/,
  );
});

test("records are the same after their way through bytes, and cut-off ones are noticed", () => {
  const records = [
    { key: Buffer.from([1, 2]), value: Buffer.alloc(0) },
    { key: Buffer.from([3]), value: null },
    { key: Buffer.from([4]), value: Buffer.from("value") },
  ];
  const bytes = Buffer.concat(records.map(encodeRecord));
  assert.deepEqual([...decodeRecords(bytes)], records);
  for (const cut of [1, 4, 12]) {
    assert.throws(() => [...decodeRecords(bytes.subarray(0, bytes.length - cut))], /cut off/);
  }
});
