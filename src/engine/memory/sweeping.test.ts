import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../../base/bytes.ts";
import { HandClock } from "../../base/clock.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { ContentsBench } from "../../store/contents.fixture.ts";
import type { Content } from "../../store/contents.ts";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import type { Look, ScarceSpace, Written } from "../../store/extents.ts";
import { MapBench } from "../../store/range-map.fixture.ts";
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

  /** As if there were a new extent each time that somebody looks. */
  override get lastExtent(): number {
    return ++this.#looks;
  }

  override async trim(): Promise<void> {
    this.trims++;
  }

  override write(body: Body, look?: Look): Promise<Written> {
    this.writes++;
    return super.write(body, look);
  }
}

function opened() {
  const store = new CountingStore(new MemoryStore(new HandClock(1_700_000_000_000)));
  const extents = new CountingExtents();
  return { store, extents, bench: new ContentsBench(store, extents) };
}

/** Maps of so many pieces each, which are freed some at a time. */
async function newMaps(bench: ContentsBench, count: number, pieces: number): Promise<Content[]> {
  const maps = new MapBench(bench);
  const made: Content[] = [];
  for (let map = 0; map < count; map++) {
    let content = await maps.create(0);
    for (let at = 0; at < pieces; at++) {
      content = await maps.append(content, someBytes(PIECE_BYTES, map));
    }
    made.push(content);
  }
  await bench.sweepAll();
  return made;
}

test("an extent is not counted again for each that dies in it, as long as it is mostly alive", async () => {
  const { store, bench } = opened();
  const contents: Content[] = [];
  for (let at = 0; at < 500; at++) contents.push(await bench.put(someBytes(PIECE_BYTES, at)));
  await bench.sweepAll();
  let used = 0;
  for (const content of contents.slice(0, 200)) {
    await bench.drop(content);
    store.used();
    while (await bench.contents.sweep());
    used += store.used();
  }
  assert.ok(used < 200 * 50, `${used} records were read and written for 200`);
  for (const content of contents.slice(200, 499)) await bench.drop(content);
  await bench.sweepAll();
  assert.ok(bench.bytesOnDisk() < 2 * PIECE_BYTES);
  assert.deepEqual(await bench.read(contents[499] as Content), someBytes(PIECE_BYTES, 499));
});

test("while others are about to die nothing is moved, so that only those are who live", async () => {
  const { extents, bench } = opened();
  const [living, ...others] = await newMaps(bench, 100, 10);
  for (const map of others) await bench.drop(map);
  extents.writes = 0;
  await bench.sweepAll();
  assert.equal(extents.writes, 10);
  assert.equal((await bench.read(living as Content)).length, 10 * PIECE_BYTES);
});

test("the living are moved in the end although others die all the time", async () => {
  const { extents, bench } = opened();
  const [, ...others] = await newMaps(bench, 10, 10);
  for (const map of others) await bench.drop(map);
  const short = new MapBench(bench);
  const dying = async () => {
    for (let count = 0; count < 20; count++) {
      const first = await short.write(await short.create(0), 0, Buffer.alloc(1));
      await bench.drop(await short.write(first, 10, Buffer.alloc(1)));
    }
  };
  await dying();
  extents.writes = 0;
  for (let round = 0; extents.writes === 0; round++) {
    assert.ok(round < 1_000, "they are never moved");
    await dying();
    await bench.contents.sweep();
  }
});

test("where space is short, extents that are mostly alive are compacted, and none are kept for later", async () => {
  const { extents, bench } = opened();
  const contents: Content[] = [];
  for (let at = 0; at < 100; at++) contents.push(await bench.put(someBytes(PIECE_BYTES, at)));
  for (const content of contents.slice(0, 20)) await bench.drop(content);
  await bench.sweepAll();
  extents.writes = 0;
  await bench.sweepAll();
  assert.deepEqual([extents.writes, extents.trims], [0, 0], "four fifths are alive");
  extents.isShort = true;
  await bench.sweepAll();
  assert.equal(extents.writes, 80);
  assert.ok(extents.trims > 0, "what is kept for the next extents is given back");
});
