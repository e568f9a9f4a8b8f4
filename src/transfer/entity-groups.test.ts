import assert from "node:assert/strict";
import { test } from "node:test";
import { groupEntities } from "./entity-groups.ts";

const MIB = 1024 * 1024;

test("large entities are not gathered by the thousand, and tables are not mixed", async () => {
  let taken = 0;
  async function* entities() {
    for (const table of ["first", "second"]) {
      for (let at = 0; at < 100; at++) {
        taken++;
        const entity = { PartitionKey: `${at % 2}`, RowKey: `${at}`, text: "x".repeat(MIB / 2) };
        yield { table, entity };
      }
    }
  }
  const rows: Record<string, number> = {};
  let given = 0;
  for await (const { table, entities: group } of groupEntities(entities())) {
    given += group.length;
    rows[table] = (rows[table] ?? 0) + group.length;
    assert.equal(new Set(group.map(({ PartitionKey }) => PartitionKey)).size, 1);
    assert.ok(taken - given <= 20, `${taken - given} of half a MiB are in memory`);
  }
  assert.deepEqual(rows, { first: 100, second: 100 });
});
