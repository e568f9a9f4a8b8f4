import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import { ContentsFixture } from "../../content/contents.fixture.ts";
import { MapFixture } from "../../content/range-map.fixture.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import type { Content } from "../../store/content.ts";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import type { ScarceSpace, Taps, Written } from "../../store/extents.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

const PIECE_BYTES = 20_000;

class CountingExtents extends MemoryExtents {
  writes = 0;
  trims = 0;
  isShort = false;
  #looks = 0;

  get space(): ScarceSpace {
    const { isShort } = this;
    return { isShort, hasRoomToMove: async () => true, giveUp: async () => false };
  }

  /** Pretends that an extent was added since the last look. */
  override get lastExtent(): number {
    return ++this.#looks;
  }

  override async trim(): Promise<void> {
    this.trims++;
  }

  override write(body: Body, taps?: Taps): Promise<Written> {
    this.writes++;
    return super.write(body, taps);
  }
}

function opened() {
  const store = new CountingStore(new MemoryStore(new ManualClock(1_700_000_000_000)));
  const extents = new CountingExtents();
  return { store, extents, fixture: new ContentsFixture(store, extents) };
}

/** Maps of several pieces each, which the sweeper frees over several rounds. */
async function newMaps(
  fixture: ContentsFixture,
  count: number,
  pieces: number,
): Promise<Content[]> {
  const maps = new MapFixture(fixture);
  const made: Content[] = [];
  for (let map = 0; map < count; map++) {
    let content = await maps.create(0);
    for (let at = 0; at < pieces; at++) {
      content = await maps.append(content, someBytes(PIECE_BYTES, map));
    }
    made.push(content);
  }
  await fixture.sweepAll();
  return made;
}

test("an extent is not recounted for each drop while it is mostly in use", async () => {
  const { store, fixture } = opened();
  const contents: Content[] = [];
  for (let at = 0; at < 500; at++) contents.push(await fixture.put(someBytes(PIECE_BYTES, at)));
  await fixture.sweepAll();
  let used = 0;
  for (const content of contents.slice(0, 200)) {
    await fixture.drop(content);
    store.used();
    while (await fixture.contents.sweep());
    used += store.used();
  }
  assert.ok(used < 200 * 50, `${used} records were read and written for 200 drops`);
  for (const content of contents.slice(200, 499)) await fixture.drop(content);
  await fixture.sweepAll();
  assert.ok(fixture.bytesOnDisk() < 2 * PIECE_BYTES);
  assert.deepEqual(await fixture.read(contents[499] as Content), someBytes(PIECE_BYTES, 499));
});

test("compaction waits until garbage is freed, so that it moves only bytes in use", async () => {
  const { extents, fixture } = opened();
  const [living, ...others] = await newMaps(fixture, 100, 10);
  for (const map of others) await fixture.drop(map);
  extents.writes = 0;
  await fixture.sweepAll();
  assert.equal(extents.writes, 10);
  assert.equal((await fixture.read(living as Content)).length, 10 * PIECE_BYTES);
});

test("compaction starts in the end, even if there is always more garbage", async () => {
  const { extents, fixture } = opened();
  const [, ...others] = await newMaps(fixture, 10, 10);
  for (const map of others) await fixture.drop(map);
  const short = new MapFixture(fixture);
  const makeGarbage = async () => {
    for (let count = 0; count < 20; count++) {
      const first = await short.write(await short.create(0), 0, Buffer.alloc(1));
      await fixture.drop(await short.write(first, 10, Buffer.alloc(1)));
    }
  };
  await makeGarbage();
  extents.writes = 0;
  for (let round = 0; extents.writes === 0; round++) {
    assert.ok(round < 1_000, "compaction never starts");
    await makeGarbage();
    await fixture.contents.sweep();
  }
});

test("where space is short, extents that are mostly in use are compacted, and no spare files are kept", async () => {
  const { extents, fixture } = opened();
  const contents: Content[] = [];
  for (let at = 0; at < 100; at++) contents.push(await fixture.put(someBytes(PIECE_BYTES, at)));
  for (const content of contents.slice(0, 20)) await fixture.drop(content);
  await fixture.sweepAll();
  extents.writes = 0;
  await fixture.sweepAll();
  assert.deepEqual([extents.writes, extents.trims], [0, 0], "four fifths are in use");
  extents.isShort = true;
  await fixture.sweepAll();
  assert.equal(extents.writes, 80);
  assert.ok(extents.trims > 0, "spare files are given back");
});
