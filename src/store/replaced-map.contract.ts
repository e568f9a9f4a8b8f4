import assert from "node:assert/strict";
import { test } from "node:test";
import { TIB } from "../base/limits.ts";
import { MapFixture, PAGE, page } from "../content/range-map.fixture.ts";
import { someBytes } from "./bodies.fixture.ts";
import type { Content } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";

/** Histories of a map that differ in how it is dropped. */
const REPLACED_MAPS: Readonly<Record<string, (fixture: MapFixture) => Promise<Content>>> = {
  "an empty map": (fixture) => fixture.create(0),
  "a map of zeroes": (fixture) => fixture.create(TIB),
  "a map of one write": async (fixture) => fixture.write(await fixture.create(0), 0, page(1)),
  "a map of which only the beginning was written": async (fixture) =>
    fixture.write(await fixture.create(TIB), 0, page(1)),
  "a map of one large write": async (fixture) =>
    fixture.write(await fixture.create(0), 0, someBytes(100_000, 1)),
  "a map that begins with a hole": async (fixture) =>
    fixture.write(await fixture.create(0), 5 * PAGE, page(1)),
  "a map of many pieces": async (fixture) => fixture.writePages(await fixture.create(0), 10, 2),
  "a truncated map": async (fixture) =>
    fixture.resize(await fixture.writePages(await fixture.create(0), 4, 1), PAGE),
  "a map that was truncated after a snapshot, since dropped": (fixture) =>
    changeUnderSnapshot(fixture, async (map) =>
      fixture.resize(await fixture.write(map, 0, page(2)), PAGE),
    ),
  "a map that was truncated to zero after a snapshot, since dropped": (fixture) =>
    changeUnderSnapshot(fixture, (map) => fixture.resize(map, 0)),
  "a map that was truncated between two snapshots, since dropped": async (fixture) => {
    const first = await fixture.write(await fixture.create(0), 0, someBytes(10 * PAGE, 1));
    await fixture.contents.share(first);
    const second = await fixture.resize(await fixture.write(first, 0, page(2)), PAGE);
    await fixture.contents.share(second);
    const map = await fixture.write(second, 0, page(3));
    // The sweeper joins the middle layer with the topmost one, then the result with the lowest.
    for (const snapshot of [second, first]) {
      await fixture.contents.drop(snapshot);
      await fixture.contents.sweepAll();
    }
    return map;
  },
};

/** Changes a map that has a snapshot, then drops the snapshot, so that both layers are joined. */
async function changeUnderSnapshot(
  fixture: MapFixture,
  change: (map: Content) => Promise<Content>,
): Promise<Content> {
  const map = await fixture.write(await fixture.create(0), 0, someBytes(10 * PAGE, 1));
  await fixture.contents.share(map);
  const changed = await change(map);
  await fixture.contents.drop(map);
  await fixture.contents.sweepAll();
  return changed;
}

/** What maps promise on every engine when one replaces another. */
export function replacedMapContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (fixture: MapFixture) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapFixture(await open(t))));

  for (const [what, make] of Object.entries(REPLACED_MAPS)) {
    promise(`replacing ${what} leaves nothing of it`, async (fixture) => {
      for (const body of [null, someBytes(PAGE, 7), someBytes(3 * PAGE, 8), someBytes(90_000, 9)]) {
        const old = await make(fixture);
        const map = await fixture.replace(old, 2 * PAGE, body);
        const shown = body ?? Buffer.alloc(2 * PAGE);
        await fixture.expect(map, 0, [shown, Buffer.alloc(map.length - shown.length)]);
        assert.deepEqual(await fixture.ranges(map), body === null ? [] : [[0, body.length]]);
        // If the new map grows, bytes of the old one do not reappear.
        const grown = await fixture.resize(map, 16 * PAGE + 90_000);
        await fixture.expect(grown, map.length, [Buffer.alloc(16 * PAGE)]);
        await fixture.contents.drop(grown);
        await fixture.contents.sweepAll();
        await fixture.contents.assertNothingLeft();
      }
    });
  }

  promise("a shared map stays readable after another has replaced it", async (fixture) => {
    const old = await fixture.write(await fixture.create(0), 0, page(1));
    await fixture.contents.share(old);
    const map = await fixture.replace(old, 0, page(2));
    await fixture.expect(old, 0, [page(1)]);
    await fixture.expect(map, 0, [page(2)]);
    for (const each of [old, map]) await fixture.contents.drop(each);
    await fixture.contents.sweepAll();
    await fixture.contents.assertNothingLeft();
  });

  promise("replacing a small map again and again adds no records", async (fixture) => {
    let map = await fixture.replace(null, 0, page(0));
    const records = await fixture.contents.records();
    for (let at = 1; at < 5; at++) map = await fixture.replace(map, 0, page(at));
    const later = await fixture.contents.records();
    assert.deepEqual(
      later.map((entry) => entry.key),
      records.map((entry) => entry.key),
    );
  });
}
