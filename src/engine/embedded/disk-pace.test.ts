import assert from "node:assert/strict";
import { test } from "node:test";
import { KIB, MIB } from "../../base/limits.ts";
import { DiskPace } from "./disk-pace.ts";

test("once seen fast, at two gibibytes a second, a disk stays fast", () => {
  const pace = new DiskPace();
  assert.equal(pace.isFast, false);
  pace.saw(2 * MIB, 1.01);
  assert.equal(pace.isFast, false);
  pace.saw(2 * MIB, 1);
  assert.equal(pace.isFast, true);
  pace.saw(MIB, 50);
  assert.equal(pace.isFast, true);
});

test("short reads are not measured", () => {
  const pace = new DiskPace();
  pace.saw(511 * KIB, 0.001);
  assert.equal(pace.isFast, false);
  pace.saw(512 * KIB, 0.25);
  assert.equal(pace.isFast, true);
});
