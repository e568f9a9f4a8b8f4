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
