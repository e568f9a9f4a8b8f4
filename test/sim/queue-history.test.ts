import assert from "node:assert/strict";
import { test } from "node:test";
import { QueueSweep } from "../../src/service/queue/sweep.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { checkQueues } from "./check-queues.ts";
import { delayBodies } from "./delay-bodies.ts";
import { drive } from "./drive.ts";
import type { QueueAnswer, QueueAsked } from "./queue-words.ts";
import { QUEUES, QueueWorkload } from "./queue-workload.ts";
import { Random } from "./random.ts";
import { answerOf } from "./sdk-answer.ts";
import { askQueue } from "./sdk-queues.ts";
import { SEED } from "./seed.ts";

const CLIENTS = 8;
/** Of each client. Longer histories take too long to decide: a soak tries more seeds instead. */
const OPERATIONS = 80;
const SWEEPS = 0.05;

for (const engine of ["memory", "embedded"] as const) {
  test(`one order explains the answers about queues that ${CLIENTS} clients got, on the ${engine} engine`, async (t) => {
    t.diagnostic(`LAZULI_SEED=${SEED}`);
    const server = await startQueueServer({ engine });
    const random = new Random(SEED);
    const client = server.client();
    const sweep = new QueueSweep(server.context);
    const sweeps: Promise<unknown>[] = [];
    try {
      for (const key of QUEUES) await client.createQueue(key);
      delayBodies(server.context.store, new Random(SEED));
      const startMs = server.clock.now();
      const history = await drive<QueueAsked, QueueAnswer>({
        clients: CLIENTS,
        operations: OPERATIONS,
        workload: new QueueWorkload(random),
        looks: QUEUES.map((key) => ({ key, asked: { operation: "peek" } })),
        ask: async ({ key, asked }, mayLeave) => {
          if (random.chance(SWEEPS)) sweeps.push(sweep.sweep());
          if (asked.operation === "advance") {
            server.clock.advance(asked.byMs);
            return { refused: null, messages: [] };
          }
          const queue = client.getQueueClient(key as string);
          const leavesBy = mayLeave ? random : null;
          return answerOf((signal) => askQueue(queue, asked, signal), leavesBy);
        },
      });
      await Promise.all(sweeps);
      t.diagnostic(`${history.length} operations`);
      // A failure inside explains more than an answer that nothing explains.
      assert.deepEqual(server.failures, [], `LAZULI_SEED=${SEED}`);
      assert.deepEqual(checkQueues(history, startMs), [], `LAZULI_SEED=${SEED}`);
    } finally {
      await server.close();
    }
    assert.deepEqual(server.failures, []);
  });
}
