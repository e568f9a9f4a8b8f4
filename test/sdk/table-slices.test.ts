import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransactionAction } from "@azure/data-tables";
import { slicesDuring } from "../../src/base/fair-queue.fixture.ts";
import { PIECE_BYTES } from "../../src/base/fair-queue.ts";
import { forThisFile } from "./server.ts";
import { startTableServer } from "./table-server.ts";

const ENTITIES = 100;
/** Each entity is shorter than a slice of work, so that none is split itself. */
const TEXT = "x".repeat(20_000);
/** The number of slices of work that the entities take. */
const PIECES = (ENTITIES * TEXT.length) / PIECE_BYTES;

const server = await forThisFile(startTableServer());

test("a batch and a query of large entities let other work run in between", async () => {
  const table = await server.makeTable();
  const actions = Array.from({ length: ENTITIES }, (_, at): TransactionAction => {
    return ["create", { partitionKey: "p", rowKey: `row-${at}`, Text: TEXT }];
  });
  const written = await slicesDuring(() => table.submitTransaction(actions));
  assert.ok(written >= PIECES * 2, `${written} slices while it was written`);

  let found = 0;
  const read = await slicesDuring(async () => {
    for await (const _ of table.listEntities()) found++;
  });
  assert.equal(found, ENTITIES);
  assert.ok(read >= PIECES / 2, `${read} slices while they were read`);
});

test("a batch merges into large entities, up to 8 MiB", async () => {
  const table = await server.makeTable();
  const large = Object.fromEntries(
    Array.from({ length: 15 }, (_, at) => [`Text${at}`, "x".repeat(32_000)]),
  );
  const keys = Array.from({ length: 18 }, (_, at) => ({ partitionKey: "p", rowKey: `row-${at}` }));
  for (const one of keys) await table.createEntity({ ...one, ...large });
  const merges = keys.map((one): TransactionAction => ["update", { ...one, Count: 7 }, "Merge"]);
  const tooLarge = { statusCode: 413, code: "RequestBodyTooLarge" };
  await assert.rejects(table.submitTransaction(merges), tooLarge);
  await table.submitTransaction(merges.slice(0, 17));
  let merged = 0;
  for await (const { Count, Text14 } of table.listEntities()) {
    assert.equal(String(Text14).length, large.Text14?.length);
    if (Count === 7) merged++;
  }
  assert.equal(merged, 17);
});
