import assert from "node:assert/strict";
import { test } from "node:test";
import { TIB } from "../base/limits.ts";
import { MapBench, PAGE, page } from "../content/range-map.fixture.ts";
import { someBytes } from "./bodies.fixture.ts";
import type { Content } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";

/** Histories of a map that differ in how it is dropped. */
const REPLACED_MAPS: Readonly<Record<string, (bench: MapBench) => Promise<Content>>> = {
  "an empty map": (bench) => bench.create(0),
  "a map of zeroes": (bench) => bench.create(TIB),
  "a map of one write": async (bench) => bench.write(await bench.create(0), 0, page(1)),
  "a map of which only the beginning was written": async (bench) =>
    bench.write(await bench.create(TIB), 0, page(1)),
  "a map of one large write": async (bench) =>
    bench.write(await bench.create(0), 0, someBytes(100_000, 1)),
  "a map that begins with a hole": async (bench) =>
    bench.write(await bench.create(0), 5 * PAGE, page(1)),
  "a map of many pieces": async (bench) => bench.writePages(await bench.create(0), 10, 2),
  "a truncated map": async (bench) =>
    bench.resize(await bench.writePages(await bench.create(0), 4, 1), PAGE),
  "a map that was truncated after a snapshot, since dropped": (bench) =>
    changeUnderSnapshot(bench, async (map) =>
      bench.resize(await bench.write(map, 0, page(2)), PAGE),
    ),
  "a map that was truncated to zero after a snapshot, since dropped": (bench) =>
    changeUnderSnapshot(bench, (map) => bench.resize(map, 0)),
  "a map that was truncated between two snapshots, since dropped": async (bench) => {
    const first = await bench.write(await bench.create(0), 0, someBytes(10 * PAGE, 1));
    await bench.contents.share(first);
    const second = await bench.resize(await bench.write(first, 0, page(2)), PAGE);
    await bench.contents.share(second);
    const map = await bench.write(second, 0, page(3));
    // The sweeper joins the middle layer with the topmost one, then the result with the lowest.
    for (const snapshot of [second, first]) {
      await bench.contents.drop(snapshot);
      await bench.contents.sweepAll();
    }
    return map;
  },
};

/** Changes a map that has a snapshot, then drops the snapshot, so that both layers are joined. */
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

/** What maps promise on every engine when one replaces another. */
export function replacedMapContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (bench: MapBench) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapBench(await open(t))));

  for (const [what, make] of Object.entries(REPLACED_MAPS)) {
    promise(`replacing ${what} leaves nothing of it`, async (bench) => {
      for (const body of [null, someBytes(PAGE, 7), someBytes(3 * PAGE, 8), someBytes(90_000, 9)]) {
        const old = await make(bench);
        const map = await bench.replace(old, 2 * PAGE, body);
        const shown = body ?? Buffer.alloc(2 * PAGE);
        await bench.expect(map, 0, [shown, Buffer.alloc(map.length - shown.length)]);
        assert.deepEqual(await bench.ranges(map), body === null ? [] : [[0, body.length]]);
        // If the new map grows, bytes of the old one do not reappear.
        const grown = await bench.resize(map, 16 * PAGE + 90_000);
        await bench.expect(grown, map.length, [Buffer.alloc(16 * PAGE)]);
        await bench.contents.drop(grown);
        await bench.contents.sweepAll();
        await bench.contents.assertNothingLeft();
      }
    });
  }

  promise("a shared map stays readable after another has replaced it", async (bench) => {
    const old = await bench.write(await bench.create(0), 0, page(1));
    await bench.contents.share(old);
    const map = await bench.replace(old, 0, page(2));
    await bench.expect(old, 0, [page(1)]);
    await bench.expect(map, 0, [page(2)]);
    for (const each of [old, map]) await bench.contents.drop(each);
    await bench.contents.sweepAll();
    await bench.contents.assertNothingLeft();
  });

  promise("replacing a small map again and again adds no records", async (bench) => {
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
