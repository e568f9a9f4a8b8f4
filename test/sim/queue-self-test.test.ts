import assert from "node:assert/strict";
import { test } from "node:test";
import { checkQueues } from "./check-queues.ts";
import type { QueueAnswer, QueueAsked } from "./queue-words.ts";
import { QUEUES, QueueWorkload } from "./queue-workload.ts";
import { simulate } from "./simulate.ts";
import { QUEUE_BUGS, type QueueBug, SimulatedQueues } from "./simulated-queues.ts";

const SEEDS = Array.from({ length: 8 }, (_, at) => at + 1);
const SIZE = { clients: 6, operations: 70 };
const START_MS = 1_000_000;

function objections(seed: number, bug: QueueBug | null) {
  const history = simulate<QueueAsked, QueueAnswer>({ seed, ...SIZE }, (random) => ({
    server: new SimulatedQueues(random, QUEUES, START_MS, bug),
    workload: new QueueWorkload(random),
    looks: QUEUES.map((key) => ({ key, asked: { operation: "peek" } })),
  }));
  return checkQueues(history, START_MS);
}

test("every history of a correct server is explained", () => {
  for (const seed of SEEDS) assert.deepEqual(objections(seed, null), [], `seed ${seed}`);
});

for (const bug of QUEUE_BUGS) {
  test(`the checker finds a server with this bug: ${bug}`, () => {
    const missed = SEEDS.filter((seed) => !objections(seed, bug).some(({ isProved }) => isProved));
    assert.deepEqual(missed, []);
  });
}
