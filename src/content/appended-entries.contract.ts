import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { KIB } from "../base/limits.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import type { Content } from "../store/content.ts";
import type { OpenContents } from "../store/contents.contract.ts";
import type { Entry } from "../store/entry.ts";
import { ContentsFixture } from "./contents.fixture.ts";
import { MapFixture } from "./range-map.fixture.ts";
import { REGION_BYTES } from "./range-records.ts";

/** What maps promise for many small writes, each directly after the one before. */
export function appendedEntriesContract(engine: string, open: OpenContents): void {
  const promise = promiseOf(engine, open);

  promise("nothing is appended to an entry of a snapshot, or across a gap", async (fixture) => {
    let map = await fixture.append(await fixture.create(0), someBytes(1_000, 1));
    const snapshot = map;
    await fixture.contents.share(snapshot);
    map = await fixture.append(map, someBytes(1_000, 2));
    map = await fixture.append(map, someBytes(1_000, 3));
    await fixture.expect(map, 0, [someBytes(1_000, 1), someBytes(1_000, 2), someBytes(1_000, 3)]);
    await fixture.expect(snapshot, 0, [someBytes(1_000, 1)]);
    map = await fixture.write(map, 4_000, someBytes(1_000, 4));
    map = await fixture.write(map, 3_000, someBytes(100, 5));
    await fixture.expect(map, 2_900, [
      someBytes(1_000, 3).subarray(900),
      someBytes(100, 5),
      Buffer.alloc(900),
      someBytes(1_000, 4),
    ]);
    for (const one of [map, snapshot]) await fixture.contents.drop(one);
    await fixture.contents.sweepAll();
    await fixture.contents.assertNothingLeft();
  });

  promise("a leaf entry is never taken for an inline entry of the same size", async (fixture) => {
    // A record of a leaf entry is about as long as one of an inline entry of these lengths.
    for (let length = 1; length < 70; length++) {
      const first = someBytes(length, length);
      let map = await fixture.append(await fixture.create(0), first);
      const { store, contents } = fixture.contents;
      const leaf = await fixture.contents.put(someBytes(100_000, 1));
      map = await store.transact((tx) => {
        const placed = contents.maps.place(tx, map, 0, leaf, 5, length);
        return placed ?? assert.fail("it was not placed");
      });
      map = await fixture.append(map, someBytes(10, 2));
      await fixture.expect(map, 0, [
        someBytes(100_000, 1).subarray(5, 5 + length),
        someBytes(10, 2),
      ]);
    }
  });

  promise("entries that were not appended in place are merged", async (fixture) => {
    const bits = bitsOf(256, 4 * KIB);
    let map = await fixture.create(0);
    for (const [at, bit] of bits.entries()) {
      map = await appendApart(fixture, map, bit);
      if (at % 128 === 127) await fixture.contents.sweepAll();
    }
    // One for each 128 appends: the first one is too long to be merged again.
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 2);
    assert.equal(await fixture.recordsIn(SPACE.crowdedRegion), 0);
    await fixture.expect(map, 0, bits);
  });

  promise("a damaged region does not keep the others from being merged", async (fixture) => {
    const bits = bitsOf(130, 100);
    const { store, contents } = fixture.contents;
    let damaged = await fixture.append(await fixture.create(0), someBytes(20_000, 1));
    for (const bit of bits) damaged = await appendApart(fixture, damaged, bit);
    const [leaf] = await fixture.contents.records();
    await store.transact((tx) => tx.delete((leaf as Entry).key));
    let whole = await fixture.create(0);
    for (const bit of bits) whole = await appendApart(fixture, whole, bit);
    for (let round = 0; round < 3; round++) {
      await assert.rejects(contents.sweep(), { kind: "damaged" });
    }
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 131 + 1);
    await fixture.expect(whole, 0, bits);
  });

  promise("a round merges no more than a few regions", async (fixture) => {
    const bits = bitsOf(128, 7 * KIB);
    const maps: Content[] = [];
    for (let count = 0; count < 8; count++) {
      let map = await fixture.create(0);
      for (const bit of bits) map = await appendApart(fixture, map, bit);
      maps.push(map);
    }
    assert.ok(await fixture.contents.contents.sweep());
    const left = await fixture.recordsIn(SPACE.rangeEntry);
    assert.ok(left > 2 * 128 && left < 5 * 128, `${left} entries`);
    await fixture.contents.sweepAll();
    assert.ok((await fixture.recordsIn(SPACE.rangeEntry)) <= 8 * 2);
    for (const map of maps) await fixture.expect(map, 0, bits);
  });
}

/** What maps also promise on engines that can append in place. See `appendInPlace`. */
export function appendedInPlaceContract(engine: string, open: OpenContents): void {
  const promise = promiseOf(engine, open);

  promise("many small appends make few entries", async (fixture) => {
    const bits = bitsOf(128, 4 * KIB);
    const map = await appendAll(fixture, await fixture.create(0), bits);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 8);
    await fixture.expect(map, 0, bits);
    await fixture.expect(map, 70_000, [Buffer.concat(bits).subarray(70_000, 150_000)]);
  });

  promise("many appends of a few bytes make one entry", async (fixture) => {
    const bits = Array.from({ length: 500 }, (_, at) => Buffer.from(`line ${at}\n`));
    const map = await appendAll(fixture, await fixture.create(0), bits);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 1);
    await fixture.expect(map, 0, bits);
  });

  promise("an entry does not grow beyond its region", async (fixture) => {
    const start = REGION_BYTES - 6 * KIB;
    let map = await fixture.append(await fixture.create(0), someBytes(start, 1));
    const bits = bitsOf(4, 3 * KIB);
    map = await appendAll(fixture, map, bits);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 3);
    await fixture.expect(map, start, bits);
  });

  promise("pages that are written in ascending order make few entries", async (fixture) => {
    const bits = bitsOf(32, 4 * KIB);
    let map = await fixture.create(REGION_BYTES);
    for (const [at, bit] of bits.entries()) map = await fixture.write(map, at * 4 * KIB, bit);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 8);
    map = await fixture.write(map, 6 * KIB, someBytes(4 * KIB, 99));
    map = await fixture.write(map, 10 * KIB, someBytes(KIB, 98));
    const expected = Buffer.concat(bits);
    someBytes(4 * KIB, 99).copy(expected, 6 * KIB);
    someBytes(KIB, 98).copy(expected, 10 * KIB);
    await fixture.expect(map, 0, [expected]);
    assert.deepEqual(await fixture.ranges(map), [[0, 128 * KIB]]);
  });

  promise("an entry that may still be appended to is not merged", async (fixture) => {
    const bits = bitsOf(132, 4 * KIB);
    let map = await fixture.create(0);
    for (const bit of bits.slice(0, 130)) map = await appendApart(fixture, map, bit);
    map = await fixture.append(map, bits[130] as Bytes);
    await fixture.contents.sweepAll();
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 2);
    map = await fixture.append(map, bits[131] as Bytes);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 2);
    await fixture.expect(map, 0, bits);
  });
}

function promiseOf(engine: string, open: OpenContents) {
  return (name: string, check: (fixture: MapFixture) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapFixture(await open(t))));
}

function bitsOf(count: number, length: number): Bytes[] {
  return Array.from({ length: count }, (_, at) => someBytes(length, at));
}

/** Appends as the first write after a restart, when no last entry is remembered. */
function appendApart({ contents }: MapFixture, map: Content, bit: Bytes): Promise<Content> {
  return new MapFixture(new ContentsFixture(contents.store, contents.extents)).append(map, bit);
}

async function appendAll(
  fixture: MapFixture,
  map: Content,
  bits: readonly Bytes[],
): Promise<Content> {
  let longer = map;
  for (const bit of bits) longer = await fixture.append(longer, bit);
  return longer;
}
