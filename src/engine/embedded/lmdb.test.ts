import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { key, SPACE } from "../../base/keys.ts";
import { openLmdb } from "./lmdb.ts";

async function newLmdb(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-lmdb-"));
  const lmdb = await openLmdb(folder);
  t.after(async () => {
    await lmdb.close();
    await rm(folder, { recursive: true });
  });
  return lmdb;
}

test("a transaction begins when the one before it is committed", async (t) => {
  const lmdb = await newLmdb(t);
  const events: string[] = [];
  const commit = (name: string) =>
    lmdb
      .transaction(() => {
        events.push(`${name} runs`);
        lmdb.putSync(key(SPACE.engine, name), Buffer.from(name));
      })
      .then(() => events.push(`${name} is committed`));
  await Promise.all([commit("one"), commit("two")]);
  assert.deepEqual(events, ["one runs", "one is committed", "two runs", "two is committed"]);
});

test("a transaction that fails does not keep the next one from running", async (t) => {
  const lmdb = await newLmdb(t);
  const failing = lmdb.transaction(() => {
    throw new Error("no");
  });
  const next = lmdb.transaction(() => lmdb.putSync(key(SPACE.engine, "x"), Buffer.from("x")));
  await assert.rejects(failing, /no/);
  await next;
  assert.equal(lmdb.get(key(SPACE.engine, "x"))?.toString(), "x");
});
