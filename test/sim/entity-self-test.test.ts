import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEntities } from "./entity-model.ts";
import type { EntityAnswer, EntityAsked } from "./entity-words.ts";
import { EntityWorkload, PARTITIONS } from "./entity-workload.ts";
import { simulate } from "./simulate.ts";
import { ENTITY_BUGS, type EntityBug, SimulatedEntities } from "./simulated-entities.ts";

const SEEDS = Array.from({ length: 12 }, (_, at) => at + 1);
const SIZE = { clients: 12, operations: 60 };

function objections(seed: number, bug: EntityBug | null) {
  const history = simulate<EntityAsked, EntityAnswer>({ seed, ...SIZE }, (random) => ({
    server: new SimulatedEntities(random, bug),
    workload: new EntityWorkload(random),
    looks: PARTITIONS.map((key) => ({ key, asked: { operation: "query" } })),
  }));
  return checkEntities(history);
}

test("every history of a correct server is explained", () => {
  for (const seed of SEEDS) assert.deepEqual(objections(seed, null), [], `seed ${seed}`);
});

for (const bug of ENTITY_BUGS) {
  test(`the checker finds a server with this bug: ${bug}`, () => {
    const missed = SEEDS.filter((seed) => !objections(seed, bug).some(({ isProved }) => isProved));
    assert.deepEqual(missed, []);
  });
}
