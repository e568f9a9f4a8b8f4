import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DURATION_BOUNDS, Histogram } from "./histogram.ts";

test("a value counts in the first bucket whose bound it does not exceed", () => {
  const histogram = new Histogram([1, 2, 5]);
  for (const value of [0, 1, 1.5, 2, 5, 5.1, 100]) histogram.observe(value);
  assert.deepEqual([...histogram.counts], [2, 2, 1, 2]);
  assert.equal(histogram.sum, 0 + 1 + 1.5 + 2 + 5 + 5.1 + 100);
});

test("every value counts once, whatever it is", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true })), (values) => {
      const histogram = new Histogram(DURATION_BOUNDS);
      for (const value of values) histogram.observe(value);
      const counted = histogram.counts.reduce((sum, count) => sum + count, 0);
      assert.equal(counted, values.length);
      DURATION_BOUNDS.forEach((bound, index) => {
        const below = histogram.counts.slice(0, index + 1).reduce((sum, count) => sum + count, 0);
        assert.equal(below, values.filter((value) => value <= bound).length);
      });
    }),
  );
});
