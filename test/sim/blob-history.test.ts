import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../sdk/server.ts";
import { checkBlobs } from "./check-blobs.ts";
import { runBlobs } from "./run-blobs.ts";
import { operationsOr, SEED } from "./seed.ts";

const CLIENTS = 16;
const BLOBS = 4;

for (const engine of ["memory", "embedded"] as const) {
  test(`one order explains the answers that ${CLIENTS} clients got, on the ${engine} engine`, async (t) => {
    t.diagnostic(`LAZULI_SEED=${SEED}`);
    const server = await startServer({ engine });
    try {
      const run = { seed: SEED, clients: CLIENTS, blobs: BLOBS, operations: operationsOr(200) };
      const { history, startMs } = await runBlobs(server, run);
      t.diagnostic(`${history.length} operations`);
      // A failure inside explains more than an answer that nothing explains.
      assert.deepEqual(server.failures, [], `LAZULI_SEED=${SEED}`);
      assert.deepEqual(checkBlobs(history, startMs), [], `LAZULI_SEED=${SEED}`);
    } finally {
      await server.close();
    }
    assert.deepEqual(server.failures, []);
  });
}
