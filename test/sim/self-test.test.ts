import assert from "node:assert/strict";
import { test } from "node:test";
import { checkBlobs } from "./check-blobs.ts";
import { simulate } from "./simulate.ts";
import { BUGS } from "./simulated-blobs.ts";

const SEEDS = Array.from({ length: 12 }, (_, at) => at + 1);
const SIZE = { clients: 16, blobs: 4, operations: 60 };

test("every history of a correct server is explained", () => {
  for (const seed of SEEDS) {
    const { history, startMs } = simulate({ seed, bug: null, ...SIZE });
    assert.deepEqual(checkBlobs(history, startMs), [], `seed ${seed}`);
  }
});

for (const bug of BUGS) {
  test(`a server with this bug is found out: ${bug}`, () => {
    const missed = SEEDS.filter((seed) => {
      const { history, startMs } = simulate({ seed, bug, ...SIZE });
      return !checkBlobs(history, startMs).some(({ isProved }) => isProved);
    });
    assert.deepEqual(missed, []);
  });
}
