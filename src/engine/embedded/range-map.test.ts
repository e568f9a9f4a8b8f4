import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ManualClock } from "../../base/clock.ts";
import { KIB, MIB } from "../../base/limits.ts";
import {
  appendedEntriesContract,
  appendedInPlaceContract,
} from "../../content/appended-entries.contract.ts";
import { ContentsFixture } from "../../content/contents.fixture.ts";
import { MapFixture } from "../../content/range-map.fixture.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import type { Content } from "../../store/content.ts";
import { CONTENTS_EXTENT_BYTES, type OpenContents } from "../../store/contents.contract.ts";
import { rangeMapContract } from "../../store/range-map.contract.ts";
import { rangeMapModelContract } from "../../store/range-map-model.contract.ts";
import { replacedMapContract } from "../../store/replaced-map.contract.ts";
import type { StoreError } from "../../store/store.ts";
import { EmbeddedExtents } from "./extents.ts";
import { openEmbeddedStore } from "./store.ts";
import { WAL_BYTES_ENOUGH } from "./wal.ts";

/** So short that checkpoints run all the time. */
const SHORT_WAL_BYTES = 128 * KIB;

const open: OpenContents = (t) => openWith(t, WAL_BYTES_ENOUGH);
const openWithShortWal: OpenContents = (t) => openWith(t, SHORT_WAL_BYTES);

async function openWith(t: TestContext, walBytes: number): Promise<ContentsFixture> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-maps-"));
  await mkdir(join(folder, "store"));
  await mkdir(join(folder, "extents"));
  const failStop = (error: StoreError) => assert.fail(error);
  const clock = new ManualClock(1_700_000_000_000);
  const store = await openEmbeddedStore(join(folder, "store"), clock, failStop, walBytes);
  const extents = await EmbeddedExtents.open({
    machine: machineFor(t),
    folder: join(folder, "extents"),
    endOfUse: null,
    failStop,
    extentBytesMax: CONTENTS_EXTENT_BYTES,
  });
  t.after(async () => {
    await store.close();
    await extents.close();
    await rm(folder, { recursive: true });
  });
  return new ContentsFixture(store, extents);
}

rangeMapContract("embedded", open);
replacedMapContract("embedded", open);
appendedEntriesContract("embedded", open);
appendedInPlaceContract("embedded", open);
rangeMapModelContract("embedded", 1, open);
rangeMapContract("embedded, with a short WAL,", openWithShortWal);
rangeMapModelContract("embedded, with a short WAL,", 1, openWithShortWal);

test("bytes appended in small steps move out of their records when the WAL is full", async (t) => {
  const fixture = new MapFixture(await openWithShortWal(t));
  const bits = Array.from({ length: 1_000 }, (_, at) => someBytes(4 * KIB, at));
  const maps = await Promise.all(Array.from({ length: 4 }, () => fixture.create(0)));
  for (const [at, bit] of bits.entries()) {
    maps[at % 4] = await fixture.append(maps[at % 4] as Content, bit);
  }
  const inRecords = (await fixture.contents.records()).reduce(
    (sum, { value }) => sum + value.length,
    0,
  );
  assert.ok(inRecords < MIB, `${inRecords} bytes are in records`);
  assert.ok(fixture.contents.bytesOnDisk() > 3 * MIB);
  for (const [at, map] of maps.entries()) {
    await fixture.expect(
      map,
      0,
      bits.filter((_, bit) => bit % 4 === at),
    );
    await fixture.contents.drop(map);
  }
  await fixture.contents.sweepAll();
  await fixture.contents.assertNothingLeft();
});

test("a map that is dropped while its bytes are moved leaves nothing behind", async (t) => {
  const fixture = new MapFixture(await openWithShortWal(t));
  for (let round = 0; round < 40; round++) {
    let map = await fixture.create(0);
    for (let at = 0; at < 8; at++) map = await fixture.append(map, someBytes(4 * KIB, at));
    await fixture.contents.drop(map);
  }
  await fixture.contents.sweepAll();
  await fixture.contents.assertNothingLeft();
});
