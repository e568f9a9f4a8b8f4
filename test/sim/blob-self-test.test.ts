import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlobAnswer, BlobAsked } from "./blob-words.ts";
import { BlobWorkload, keysOf } from "./blob-workload.ts";
import { checkBlobs } from "./check-blobs.ts";
import { simulate } from "./simulate.ts";
import { BUGS, type Bug, SimulatedBlobs } from "./simulated-blobs.ts";

const SEEDS = Array.from({ length: 12 }, (_, at) => at + 1);
const SIZE = { clients: 16, operations: 110 };
const KEYS = keysOf(4);
const PIECES = [40, 50, 60];
const START_MS = 1_000_000;
const NO_GUARDS = { ifMatch: null, ifNoneMatch: null, leaseId: null };

function objections(seed: number, bug: Bug | null) {
  const history = simulate<BlobAsked, BlobAnswer>({ seed, ...SIZE }, (random) => ({
    server: new SimulatedBlobs(random, KEYS, START_MS, bug),
    workload: new BlobWorkload(random, KEYS, PIECES),
    looks: KEYS.map((key) => ({ key, asked: { operation: "get", ...NO_GUARDS } })),
  }));
  return checkBlobs(history, START_MS);
}

test("every history of a correct server is explained", () => {
  for (const seed of SEEDS) assert.deepEqual(objections(seed, null), [], `seed ${seed}`);
});

for (const bug of BUGS) {
  test(`the checker finds a server with this bug: ${bug}`, () => {
    const missed = SEEDS.filter((seed) => !objections(seed, bug).some(({ isProved }) => isProved));
    assert.deepEqual(missed, []);
  });
}
