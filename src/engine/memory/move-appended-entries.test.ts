import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import { SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { ContentsFixture, NO_DIGESTS } from "../../content/contents.fixture.ts";
import type { MapContents } from "../../content/map-contents.ts";
import { moveAppendedEntries } from "../../content/move-appended-entries.ts";
import { MapFixture } from "../../content/range-map.fixture.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import type { Content } from "../../store/content.ts";
import type { Taps, Written } from "../../store/extents.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

/**
 * Maps that have one grown entry each, of these lengths. `onTaken` runs once, after the first entry
 * was copied and before it is replaced.
 */
async function grown(lengths: readonly number[], onTaken: (fixture: MapFixture) => Promise<void>) {
  const store = new MemoryStore(new ManualClock(1_700_000_000_000));
  const fixture = new MapFixture(new ContentsFixture(store, new MemoryExtents()));
  const maps: Content[] = [];
  for (const length of lengths) {
    const half = await fixture.append(await fixture.create(0), someBytes(length / 2, 1));
    maps.push(await fixture.append(half, someBytes(length / 2, 2)));
  }
  const { contents } = fixture.contents;
  let isFirst = true;
  const moving: MapContents = {
    take: (body) => contents.take(body, NO_DIGESTS),
    takeToExtent: async (body) => {
      const taken = await contents.take(body, NO_DIGESTS);
      const isNow = isFirst;
      isFirst = false;
      if (isNow) await onTaken(fixture);
      return taken;
    },
    keep: (tx, taken) => contents.keep(tx, taken),
    share: (tx, content) => contents.share(tx, content),
    drop: (tx, content) => contents.drop(tx, content),
  };
  const appended = maps.map(({ id }) => ({ layer: id, start: 0 }));
  return { fixture, maps, appended, move: () => moveAppendedEntries(store, moving, appended) };
}

test("long entries are moved to extents, and short ones stay", async () => {
  const { fixture, maps, move } = await grown([20 * KIB, 4 * KIB, 28 * KIB], async () => {});
  assert.deepEqual(await move(), []);
  assert.equal(await fixture.recordsIn(SPACE.content), 2);
  for (const map of maps) {
    const halves = [1, 2].map((seed) => someBytes(map.length / 2, seed));
    await fixture.expect(map, 0, halves);
  }
});

test("an entry that changes while it is moved stays as it is, and is returned", async () => {
  const changed: Content[] = [];
  const { fixture, maps, appended, move } = await grown(
    [20 * KIB, 24 * KIB, 28 * KIB],
    async (fixture) => {
      changed.push(await fixture.append(maps[0] as Content, someBytes(100, 3)));
      await fixture.contents.drop(maps[1] as Content);
    },
  );
  assert.deepEqual(await move(), [appended[0], appended[1]]);
  await fixture.expect(changed[0] as Content, 0, [
    someBytes(10 * KIB, 1),
    someBytes(10 * KIB, 2),
    someBytes(100, 3),
  ]);
  assert.equal(await fixture.recordsIn(SPACE.content), 1);
  for (const map of [changed[0] as Content, maps[2] as Content]) await fixture.contents.drop(map);
  await fixture.contents.sweepAll();
  await fixture.contents.assertNothingLeft();
});

/** A store whose tests call `prepare` as an engine does before a checkpoint. */
class CheckpointingStore extends MemoryStore {
  prepare: () => Promise<void> = () => assert.fail("nothing is registered");

  beforeCheckpoint(prepare: () => Promise<void>): void {
    this.prepare = prepare;
  }
}

class SlowExtents extends MemoryExtents {
  meanwhile: () => Promise<void> = async () => {};

  override async write(body: Body, taps?: Taps): Promise<Written> {
    await this.meanwhile();
    return super.write(body, taps);
  }
}

test("an entry that changed while it was moved is moved before the next checkpoint", async () => {
  const store = new CheckpointingStore(new ManualClock(1_700_000_000_000));
  const extents = new SlowExtents();
  const fixture = new MapFixture(new ContentsFixture(store, extents));
  let map = await fixture.create(0);
  const append = async () => {
    map = await fixture.append(map, someBytes(4 * KIB, 1));
  };
  for (let count = 0; count < 3; count++) await append();
  extents.meanwhile = append;
  await store.prepare();
  assert.equal(await fixture.recordsIn(SPACE.content), 0);
  extents.meanwhile = async () => {};
  await store.prepare();
  assert.equal(await fixture.recordsIn(SPACE.content), 1);
  await append();
  await fixture.expect(map, 0, Array(5).fill(someBytes(4 * KIB, 1)));
});
