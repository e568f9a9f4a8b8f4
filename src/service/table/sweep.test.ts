import assert from "node:assert/strict";
import { test } from "node:test";
import { createTable } from "./create-table.ts";
import { TableSweep } from "./sweep.ts";
import { Tables } from "./tables.fixture.ts";

test("the entities of a deleted table are removed, a bounded number at a time", async () => {
  const tables = await Tables.open();
  await tables.fill("p", 600);
  await tables.delete();
  await createTable(tables.context, tables.asked);
  await tables.fill("p", 10);
  const sweep = new TableSweep(tables.context);
  let [left, rounds] = [await tables.entities(), 0];
  assert.equal(left, 610);
  while (await sweep.sweep()) {
    const now = await tables.entities();
    assert.ok(left - now <= 256);
    [left, rounds] = [now, rounds + 1];
  }
  assert.deepEqual([left, rounds], [10, 3]);
  assert.equal((await tables.query()).entities.length, 10);
  assert.equal(await sweep.sweep(), false);
});
