import assert from "node:assert/strict";
import { test } from "node:test";
import { RoundRobin } from "./round-robin.ts";

test("the median counts all rounds", async () => {
  const values = [5, 1, 9];
  const reading = await new RoundRobin().medianOf(
    null,
    async (round) => ({ value: values[round] as number }),
    values.length,
  );
  assert.equal(reading.value, 5);
});

test("no round begins once the time is up, but one is always measured", async () => {
  const measured: number[] = [];
  const measure = async (round: number) => {
    measured.push(round);
    return { value: round };
  };
  await new RoundRobin().medianOf(null, measure, 5, () => true);
  assert.deepEqual(measured, [0]);
  measured.length = 0;
  await new RoundRobin().medianOf(null, measure, 5, () => measured.length >= 3);
  assert.deepEqual(measured, [0, 1, 2]);
});
