import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionLimits } from "./connection-limits.ts";

test("one address gets half of the connections by default", () => {
  const limitsOf = (maxConnections: number | null, connectionsPerAddress: number | null) => {
    const limits = connectionLimits({ maxConnections, connectionsPerAddress });
    return [limits.connectionsMax, limits.connectionsPerAddressMax];
  };
  assert.deepEqual(limitsOf(null, null), [4_096, 2_048]);
  assert.deepEqual(limitsOf(1, null), [1, 1]);
  assert.deepEqual(limitsOf(100, null), [100, 50]);
  assert.deepEqual(limitsOf(100, 100), [100, 100]);
});
