import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { KIB } from "../base/limits.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import type { Content } from "../store/content.ts";
import type { OpenContents } from "../store/contents.contract.ts";
import type { Entry } from "../store/entry.ts";
import { ContentsBench } from "./contents.fixture.ts";
import { MapBench } from "./range-map.fixture.ts";
import { REGION_BYTES } from "./range-records.ts";

/** What maps promise for many small writes, each directly after the one before. */
export function appendedEntriesContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (bench: MapBench) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapBench(await open(t))));

  promise("many small appends make few entries", async (bench) => {
    const bits = bitsOf(128, 4 * KIB);
    const map = await appendAll(bench, await bench.create(0), bits);
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 8);
    await bench.expect(map, 0, bits);
    await bench.expect(map, 70_000, [Buffer.concat(bits).subarray(70_000, 150_000)]);
  });

  promise("many appends of a few bytes make one entry", async (bench) => {
    const bits = Array.from({ length: 500 }, (_, at) => Buffer.from(`line ${at}\n`));
    const map = await appendAll(bench, await bench.create(0), bits);
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 1);
    await bench.expect(map, 0, bits);
  });

  promise("an entry does not grow beyond its region", async (bench) => {
    const start = REGION_BYTES - 6 * KIB;
    let map = await bench.append(await bench.create(0), someBytes(start, 1));
    const bits = bitsOf(4, 3 * KIB);
    map = await appendAll(bench, map, bits);
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 3);
    await bench.expect(map, start, bits);
  });

  promise("pages that are written in ascending order make few entries", async (bench) => {
    const bits = bitsOf(32, 4 * KIB);
    let map = await bench.create(REGION_BYTES);
    for (const [at, bit] of bits.entries()) map = await bench.write(map, at * 4 * KIB, bit);
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 8);
    map = await bench.write(map, 6 * KIB, someBytes(4 * KIB, 99));
    map = await bench.write(map, 10 * KIB, someBytes(KIB, 98));
    const expected = Buffer.concat(bits);
    someBytes(4 * KIB, 99).copy(expected, 6 * KIB);
    someBytes(KIB, 98).copy(expected, 10 * KIB);
    await bench.expect(map, 0, [expected]);
    assert.deepEqual(await bench.ranges(map), [[0, 128 * KIB]]);
  });

  promise("nothing is appended to an entry of a snapshot, or across a gap", async (bench) => {
    let map = await bench.append(await bench.create(0), someBytes(1_000, 1));
    const snapshot = map;
    await bench.contents.share(snapshot);
    map = await bench.append(map, someBytes(1_000, 2));
    map = await bench.append(map, someBytes(1_000, 3));
    await bench.expect(map, 0, [someBytes(1_000, 1), someBytes(1_000, 2), someBytes(1_000, 3)]);
    await bench.expect(snapshot, 0, [someBytes(1_000, 1)]);
    map = await bench.write(map, 4_000, someBytes(1_000, 4));
    map = await bench.write(map, 3_000, someBytes(100, 5));
    await bench.expect(map, 2_900, [
      someBytes(1_000, 3).subarray(900),
      someBytes(100, 5),
      Buffer.alloc(900),
      someBytes(1_000, 4),
    ]);
    for (const one of [map, snapshot]) await bench.contents.drop(one);
    await bench.contents.sweepAll();
    await bench.contents.assertNothingLeft();
  });

  promise("a leaf entry is never taken for an inline entry of the same size", async (bench) => {
    // A record of a leaf entry is about as long as one of an inline entry of these lengths.
    for (let length = 1; length < 70; length++) {
      const first = someBytes(length, length);
      let map = await bench.append(await bench.create(0), first);
      const { store, contents } = bench.contents;
      const leaf = await bench.contents.put(someBytes(100_000, 1));
      map = await store.transact((tx) => {
        const placed = contents.maps.place(tx, map, 0, leaf, 5, length);
        return placed ?? assert.fail("it was not placed");
      });
      map = await bench.append(map, someBytes(10, 2));
      await bench.expect(map, 0, [someBytes(100_000, 1).subarray(5, 5 + length), someBytes(10, 2)]);
    }
  });

  promise("entries that were not appended in place are merged", async (bench) => {
    const bits = bitsOf(256, 4 * KIB);
    let map = await bench.create(0);
    for (const [at, bit] of bits.entries()) {
      map = await appendApart(bench, map, bit);
      if (at % 128 === 127) await bench.contents.sweepAll();
    }
    // One for each 128 appends: the first one is too long to be merged again.
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 2);
    assert.equal(await bench.recordsIn(SPACE.crowdedRegion), 0);
    await bench.expect(map, 0, bits);
  });

  promise("an entry that may still be appended to is not merged", async (bench) => {
    const bits = bitsOf(132, 4 * KIB);
    let map = await bench.create(0);
    for (const bit of bits.slice(0, 130)) map = await appendApart(bench, map, bit);
    map = await bench.append(map, bits[130] as Bytes);
    await bench.contents.sweepAll();
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 2);
    map = await bench.append(map, bits[131] as Bytes);
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 2);
    await bench.expect(map, 0, bits);
  });

  promise("a damaged region does not keep the others from being merged", async (bench) => {
    const bits = bitsOf(130, 100);
    const { store, contents } = bench.contents;
    let damaged = await bench.append(await bench.create(0), someBytes(20_000, 1));
    for (const bit of bits) damaged = await appendApart(bench, damaged, bit);
    const [leaf] = await bench.contents.records();
    await store.transact((tx) => tx.delete((leaf as Entry).key));
    let whole = await bench.create(0);
    for (const bit of bits) whole = await appendApart(bench, whole, bit);
    for (let round = 0; round < 3; round++) {
      await assert.rejects(contents.sweep(), { kind: "damaged" });
    }
    assert.equal(await bench.recordsIn(SPACE.rangeEntry), 131 + 1);
    await bench.expect(whole, 0, bits);
  });

  promise("a round merges no more than a few regions", async (bench) => {
    const bits = bitsOf(128, 7 * KIB);
    const maps: Content[] = [];
    for (let count = 0; count < 8; count++) {
      let map = await bench.create(0);
      for (const bit of bits) map = await appendApart(bench, map, bit);
      maps.push(map);
    }
    assert.ok(await bench.contents.contents.sweep());
    const left = await bench.recordsIn(SPACE.rangeEntry);
    assert.ok(left > 2 * 128 && left < 5 * 128, `${left} entries`);
    await bench.contents.sweepAll();
    assert.ok((await bench.recordsIn(SPACE.rangeEntry)) <= 8 * 2);
    for (const map of maps) await bench.expect(map, 0, bits);
  });
}

function bitsOf(count: number, length: number): Bytes[] {
  return Array.from({ length: count }, (_, at) => someBytes(length, at));
}

/** Appends as the first write after a restart, when no last entry is remembered. */
function appendApart({ contents }: MapBench, map: Content, bit: Bytes): Promise<Content> {
  return new MapBench(new ContentsBench(contents.store, contents.extents)).append(map, bit);
}

async function appendAll(bench: MapBench, map: Content, bits: readonly Bytes[]): Promise<Content> {
  let longer = map;
  for (const bit of bits) longer = await bench.append(longer, bit);
  return longer;
}
