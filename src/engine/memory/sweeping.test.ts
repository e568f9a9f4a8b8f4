import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../../base/bytes.ts";
import { HandClock } from "../../base/clock.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { ContentsBench } from "../../store/contents.fixture.ts";
import type { Content } from "../../store/contents.ts";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import type { Look, Written } from "../../store/extents.ts";
import { MemoryExtents } from "./extents.ts";
import { MemoryStore } from "./store.ts";

const PIECE_BYTES = 20_000;

class CountingExtents extends MemoryExtents {
  writes = 0;

  override write(body: Body, look?: Look): Promise<Written> {
    this.writes++;
    return super.write(body, look);
  }
}

async function filled(count: number) {
  const store = new CountingStore(new MemoryStore(new HandClock(1_700_000_000_000)));
  const extents = new CountingExtents();
  const bench = new ContentsBench(store, extents);
  const contents: Content[] = [];
  for (let at = 0; at < count; at++) contents.push(await bench.put(someBytes(PIECE_BYTES, at)));
  await bench.sweepAll();
  return { store, extents, bench, contents };
}

test("an extent is not counted again for each that dies in it, as long as it is mostly alive", async () => {
  const { store, bench, contents } = await filled(500);
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
  const { extents, bench, contents } = await filled(1_000);
  const living = contents.filter((_, at) => at % 100 === 0);
  for (const content of contents) if (!living.includes(content)) await bench.drop(content);
  extents.writes = 0;
  await bench.sweepAll();
  assert.equal(extents.writes, living.length);
  assert.ok(bench.bytesOnDisk() < 2 * living.length * PIECE_BYTES);
  for (const content of living) {
    assert.deepEqual(await bench.read(content), someBytes(PIECE_BYTES, contents.indexOf(content)));
  }
});

test("the living are moved in the end although others die all the time", async () => {
  const { extents, bench, contents } = await filled(300);
  for (const content of contents.slice(1)) await bench.drop(content);
  const dying = async () => {
    for (let at = 0; at < 130; at++) await bench.drop(await bench.put(Buffer.alloc(1, at)));
  };
  await dying();
  extents.writes = 0;
  for (let round = 0; extents.writes === 0; round++) {
    assert.ok(round < 1_000, "it is never moved");
    await dying();
    await bench.contents.sweep();
  }
});
