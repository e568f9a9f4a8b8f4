import assert from "node:assert/strict";
import { test } from "node:test";
import { TIB } from "../base/limits.ts";
import { MapBench, PAGE, page } from "../content/range-map.fixture.ts";
import { someBytes } from "./bodies.fixture.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Content } from "./contents.ts";

/** What was written to a map, or cut off it, in all the ways that matter when it goes. */
const REPLACED_MAPS: Readonly<Record<string, (bench: MapBench) => Promise<Content>>> = {
  "one that is empty": (bench) => bench.create(0),
  "one that is all zeroes": (bench) => bench.create(TIB),
  "one that was written at one go": async (bench) => bench.write(await bench.create(0), 0, page(1)),
  "one of which the beginning was written": async (bench) =>
    bench.write(await bench.create(TIB), 0, page(1)),
  "one with large bytes": async (bench) =>
    bench.write(await bench.create(0), 0, someBytes(100_000, 1)),
  "one with bytes further on": async (bench) =>
    bench.write(await bench.create(0), 5 * PAGE, page(1)),
  "one in many pieces": async (bench) => bench.writePages(await bench.create(0), 10, 2),
  "one that was cut": async (bench) =>
    bench.resize(await bench.writePages(await bench.create(0), 4, 1), PAGE),
  "one that was cut while a snapshot showed more, which is gone": (bench) =>
    changeUnderSnapshot(bench, async (map) =>
      bench.resize(await bench.write(map, 0, page(2)), PAGE),
    ),
  "one of which nothing was left while a snapshot showed more, which is gone": (bench) =>
    changeUnderSnapshot(bench, (map) => bench.resize(map, 0)),
  "one that was cut, between two snapshots that are gone": async (bench) => {
    const first = await bench.write(await bench.create(0), 0, someBytes(10 * PAGE, 1));
    await bench.contents.share(first);
    const second = await bench.resize(await bench.write(first, 0, page(2)), PAGE);
    await bench.contents.share(second);
    const map = await bench.write(second, 0, page(3));
    // The layer in the middle is joined with the top one first, and that with the lowest.
    for (const snapshot of [second, first]) {
      await bench.contents.drop(snapshot);
      await bench.contents.sweepAll();
    }
    return map;
  },
};

/** Changes a map while a snapshot shows what it was; then that goes, and the two layers are joined. */
async function changeUnderSnapshot(
  bench: MapBench,
  change: (map: Content) => Promise<Content>,
): Promise<Content> {
  const map = await bench.write(await bench.create(0), 0, someBytes(10 * PAGE, 1));
  await bench.contents.share(map);
  const changed = await change(map);
  await bench.contents.drop(map);
  await bench.contents.sweepAll();
  return changed;
}

/** What maps promise on every engine when one takes the place of another. */
export function replacedMapContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (bench: MapBench) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapBench(await open(t))));

  for (const [what, make] of Object.entries(REPLACED_MAPS)) {
    promise(`a map takes the place of ${what}, and leaves nothing of it`, async (bench) => {
      for (const body of [null, someBytes(PAGE, 7), someBytes(3 * PAGE, 8), someBytes(90_000, 9)]) {
        const old = await make(bench);
        const map = await bench.replace(old, 2 * PAGE, body);
        const shown = body ?? Buffer.alloc(2 * PAGE);
        await bench.expect(map, 0, [shown, Buffer.alloc(map.length - shown.length)]);
        assert.deepEqual(await bench.ranges(map), body === null ? [] : [[0, body.length]]);
        // What it would grow by is nothing of the old one.
        const grown = await bench.resize(map, 16 * PAGE + 90_000);
        await bench.expect(grown, map.length, [Buffer.alloc(16 * PAGE)]);
        await bench.contents.drop(grown);
        await bench.contents.sweepAll();
        await bench.contents.assertNothingLeft();
      }
    });
  }

  promise("what shares a map keeps it when another takes its place", async (bench) => {
    const old = await bench.write(await bench.create(0), 0, page(1));
    await bench.contents.share(old);
    const map = await bench.replace(old, 0, page(2));
    await bench.expect(old, 0, [page(1)]);
    await bench.expect(map, 0, [page(2)]);
    for (const each of [old, map]) await bench.contents.drop(each);
    await bench.contents.sweepAll();
    await bench.contents.assertNothingLeft();
  });

  promise("small files that are written again and again add no records", async (bench) => {
    let map = await bench.replace(null, 0, page(0));
    const records = await bench.contents.records();
    for (let at = 1; at < 5; at++) map = await bench.replace(map, 0, page(at));
    const later = await bench.contents.records();
    assert.deepEqual(
      later.map((entry) => entry.key),
      records.map((entry) => entry.key),
    );
  });
}
