import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { startServer } from "../sdk/server.ts";
import { checkBlobs } from "./check-blobs.ts";
import { runBlobs } from "./run-blobs.ts";

const CLIENTS = 16;
const BLOBS = 4;
/** Of each client. The soak asks for more. */
const OPERATIONS = Number(process.env.LAZULI_SIM_OPERATIONS ?? 200);
/** Give a seed to make the same choices again; what races against what is up to the machine. */
const SEED = Number(process.env.LAZULI_SEED ?? randomInt(1_000_000));

for (const engine of ["memory", "embedded"] as const) {
  test(`one order explains what ${CLIENTS} clients were told, on the ${engine} engine`, async (t) => {
    t.diagnostic(`LAZULI_SEED=${SEED}`);
    const server = await startServer({ engine });
    try {
      const run = { seed: SEED, clients: CLIENTS, blobs: BLOBS, operations: OPERATIONS };
      const { history, startMs } = await runBlobs(server, run);
      t.diagnostic(`${history.length} operations`);
      assert.deepEqual(checkBlobs(history, startMs), [], `LAZULI_SEED=${SEED}`);
    } finally {
      await server.close();
    }
    assert.deepEqual(server.failures, []);
  });
}
