import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseWatch } from "./database-watch.ts";
import type { ServiceGaps } from "./service-gaps.ts";

test("the waits of the database are noted once nothing has succeeded for long", async () => {
  for (const { currentMs, notes } of [
    { currentMs: 9_000, notes: /^0\.\d s: pg1 leader$/ },
    { currentMs: 10_000, notes: /^0\.\d s: pg1 leader\n0\.\d s: 7 waits$/ },
  ]) {
    const database = { members: async () => "pg1 leader", query: async () => "7 waits" };
    const watch = new DatabaseWatch(database, () => ({ currentMs }) as ServiceGaps);
    assert.match((await watch.end()).slice(0, 2).join("\n"), notes);
  }
});
