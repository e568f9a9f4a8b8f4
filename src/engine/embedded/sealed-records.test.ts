import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { key, SPACE } from "../../base/keys.ts";
import { openLmdb } from "./lmdb.ts";
import { SealedRecords } from "./sealed-records.ts";

test("a record that was read before it was put, changed or removed is read as it is now", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-records-"));
  const lmdb = await openLmdb(folder);
  t.after(async () => {
    await lmdb.close();
    await rm(folder, { recursive: true });
  });
  const records = new SealedRecords(lmdb);
  const at = key(SPACE.share, "account", "share");
  const changes: [() => void, string | undefined][] = [
    [() => {}, undefined],
    [() => records.put(at, Buffer.from("new")), "new"],
    [() => records.put(at, Buffer.from("changed")), "changed"],
    [() => records.remove(at), undefined],
  ];
  for (const [change, expected] of changes) {
    await lmdb.transaction(change);
    lmdb.resetReadTxn();
    // Twice: once from lmdb, and once as it was kept.
    for (let time = 0; time < 2; time++) assert.equal(records.get(at)?.toString(), expected);
  }
});
