/** A rectangle in a unit square: all four are parts of 1. */
export interface Tile {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides a rectangle of this ratio (width to height) into tiles, each with an area in proportion
 * to its weight and as near to a square as that permits. Weights are positive and descend.
 */
export function layoutTiles(weights: readonly number[], ratio: number): Tile[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const areas = weights.map((weight) => (weight / total) * ratio);
  const tiles: Tile[] = [];
  let rest: Tile = { left: 0, top: 0, width: ratio, height: 1 };
  for (let from = 0; from < areas.length; ) {
    const side = Math.min(rest.width, rest.height);
    const count = rowLength(areas, from, side);
    const row = areas.slice(from, from + count);
    const area = row.reduce((sum, one) => sum + one, 0);
    rest = addRow(tiles, row, area, rest);
    from += count;
  }
  return tiles.map(({ left, top, width, height }) => ({
    left: left / ratio,
    top,
    width: width / ratio,
    height,
  }));
}

/** Takes areas into a row along the shorter side for as long as its tiles become more square. */
function rowLength(areas: readonly number[], from: number, side: number): number {
  let best = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let count = 1; from + count <= areas.length; count++) {
    const smallest = areas[from + count - 1] ?? 0;
    sum += smallest;
    const depth = sum / side;
    const worst = Math.max(
      flatness((areas[from] ?? 0) / depth, depth),
      flatness(smallest / depth, depth),
    );
    if (worst > best) return count - 1;
    best = worst;
  }
  return areas.length - from;
}

/** How far from a square: 1, or more. */
function flatness(width: number, height: number): number {
  return Math.max(width / height, height / width);
}

/** Adds the tiles of a row, and returns the rectangle that is left. */
function addRow(tiles: Tile[], row: readonly number[], area: number, rest: Tile): Tile {
  const { left, top, width, height } = rest;
  const isUpright = width >= height;
  const depth = area / (isUpright ? height : width);
  let at = isUpright ? top : left;
  for (const one of row) {
    const length = one / depth;
    tiles.push(
      isUpright
        ? { left, top: at, width: depth, height: length }
        : { left: at, top, width: length, height: depth },
    );
    at += length;
  }
  return isUpright
    ? { left: left + depth, top, width: Math.max(0, width - depth), height }
    : { left, top: top + depth, width, height: Math.max(0, height - depth) };
}
