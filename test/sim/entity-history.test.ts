import assert from "node:assert/strict";
import { test } from "node:test";
import { startTableServer } from "../sdk/table-server.ts";
import { delayBodies } from "./delay-bodies.ts";
import { drive } from "./drive.ts";
import { checkEntities } from "./entity-model.ts";
import type { EntityAnswer, EntityAsked } from "./entity-words.ts";
import { EntityWorkload, PARTITIONS } from "./entity-workload.ts";
import { Random } from "./random.ts";
import { answerOf } from "./sdk-answer.ts";
import { askEntities } from "./sdk-entities.ts";
import { operationsOr, SEED } from "./seed.ts";

const CLIENTS = 12;

for (const engine of ["memory", "embedded"] as const) {
  test(`one order explains the answers about entities and batches that ${CLIENTS} clients got, on the ${engine} engine`, async (t) => {
    t.diagnostic(`LAZULI_SEED=${SEED}`);
    const server = await startTableServer({ engine });
    const random = new Random(SEED);
    try {
      const table = await server.makeTable();
      delayBodies(server.context.store, new Random(SEED));
      const history = await drive<EntityAsked, EntityAnswer>({
        clients: CLIENTS,
        operations: operationsOr(80),
        workload: new EntityWorkload(random),
        looks: PARTITIONS.map((key) => ({ key, asked: { operation: "query" } })),
        ask: ({ key, asked }, mayLeave) =>
          answerOf(
            (signal) => askEntities(table, key as string, asked, signal),
            mayLeave ? random : null,
          ),
      });
      t.diagnostic(`${history.length} operations`);
      // A failure inside explains more than an answer that nothing explains.
      assert.deepEqual(server.failures, [], `LAZULI_SEED=${SEED}`);
      assert.deepEqual(checkEntities(history), [], `LAZULI_SEED=${SEED}`);
    } finally {
      await server.close();
    }
    assert.deepEqual(server.failures, []);
  });
}
