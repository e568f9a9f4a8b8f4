import assert from "node:assert/strict";
import { test } from "node:test";
import { startDataLake } from "../sdk/datalake-server.ts";
import type { TestEngine } from "../sdk/test-data.ts";
import { runTrees } from "./run-trees.ts";
import { operationsOr, SEED } from "./seed.ts";

/** On front ends over PostgreSQL if `LAZULI_TEST_ENGINE` says so. */
const ENGINES: readonly TestEngine[] =
  process.env.LAZULI_TEST_ENGINE === "postgres" ? ["postgres"] : ["plain memory", "embedded"];

for (const engine of ENGINES) {
  test(`lists show one state of a tree whose directories are renamed, on the ${engine} engine`, async (t) => {
    t.diagnostic(`LAZULI_SEED=${SEED}`);
    const server = await startDataLake({ engine });
    try {
      await runTrees(server, { seed: SEED, directories: 4, operations: operationsOr(25) });
    } finally {
      await server.close();
    }
    assert.deepEqual(server.failures, [], `LAZULI_SEED=${SEED}`);
  });
}
