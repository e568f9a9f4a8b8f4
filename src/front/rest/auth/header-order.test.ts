import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareHeaderNames } from "./header-order.ts";

const name = fc.string({ unit: fc.constantFrom(..."!#$%&'*+-.^_`|~0189abyz"), maxLength: 8 });

test("names are in the order measured on the service", () => {
  const order = ["-_a", "-1", "-a", "-a.b", "-a_b", "-a1", "-aa", "-ab", "-a-b", "-z"];
  const sorted = order.toReversed().sort(compareHeaderNames);
  assert.deepEqual(sorted, order);
});

test("the order is total: only identical names are equal, and it has no cycles", () => {
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      const sign = (left: string, right: string) => Math.sign(compareHeaderNames(left, right));
      assert.equal(sign(a, b) === 0, a === b);
      assert.equal(sign(a, b) + sign(b, a), 0);
      if (sign(a, b) < 0 && sign(b, c) < 0) assert.equal(sign(a, c), -1);
    }),
    { numRuns: 5_000 },
  );
});
