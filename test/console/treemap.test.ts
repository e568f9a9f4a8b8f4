import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { layoutTiles, type Tile } from "../../console/treemap.ts";

const TINY = 1e-9;

function overlap(one: Tile, other: Tile): number {
  const width =
    Math.min(one.left + one.width, other.left + other.width) - Math.max(one.left, other.left);
  const height =
    Math.min(one.top + one.height, other.top + other.height) - Math.max(one.top, other.top);
  return Math.max(0, width) * Math.max(0, height);
}

test("tiles have areas in proportion to their weights, stay inside, and do not overlap", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(weights, fc.constantFrom(0.5, 1, 2), (some, ratio) => {
      const sorted = some.sort((one, other) => other - one);
      const total = sorted.reduce((sum, weight) => sum + weight, 0);
      const tiles = layoutTiles(sorted, ratio);
      assert.equal(tiles.length, sorted.length);
      for (const [at, tile] of tiles.entries()) {
        const { left, top, width, height } = tile;
        assert.ok(Math.abs(width * height - (sorted[at] ?? 0) / total) < TINY);
        assert.ok(left >= -TINY && top >= -TINY);
        assert.ok(left + width <= 1 + TINY && top + height <= 1 + TINY);
        for (const other of tiles.slice(at + 1)) assert.ok(overlap(tile, other) < TINY);
      }
    }),
  );
});

test("equal weights become squares where that is possible", () => {
  for (const { width, height } of layoutTiles([1, 1, 1, 1], 1)) {
    assert.ok(Math.abs(width - 0.5) < TINY && Math.abs(height - 0.5) < TINY);
  }
  // Twice as wide as high, in parts of each side.
  for (const { width, height } of layoutTiles([1, 1], 2)) {
    assert.ok(Math.abs(width - 0.5) < TINY && Math.abs(height - 1) < TINY);
  }
});
