import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type ContentsFixture, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { crc64 } from "../machine/crc64.ts";
import { gather, inParts, someBytes } from "./bodies.fixture.ts";
import { INLINE_BYTES_MAX, type Part } from "./contents.ts";
import type { Extents } from "./extents.ts";

/** The size of extents in these tests: a few bodies fill one. */
export const CONTENTS_EXTENT_BYTES = 512 * 1024;

/** Opens new, empty contents; `wrap` may replace the engine's extents. */
export type OpenContents = (
  t: TestContext,
  wrap?: (extents: Extents) => Extents,
) => Promise<ContentsFixture>;

/** What contents promise on every engine. */
export function contentsContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (fixture: ContentsFixture) => Promise<void>) =>
    test(`contents on ${engine}: ${name}`, async (t) => check(await open(t)));

  promise("a body is read back unchanged, with the requested digests", async (fixture) => {
    for (const length of [0, 1, INLINE_BYTES_MAX, INLINE_BYTES_MAX + 1, 700_000, 9_000_001]) {
      const bytes = someBytes(length, length);
      const taken = await fixture.contents.take(inParts(bytes, 65_000), { md5: true, crc64: true });
      assert.deepEqual(taken.md5, createHash("md5").update(bytes).digest());
      assert.deepEqual(taken.crc64, crc64(bytes));
      const content = await fixture.store.transact((tx) => fixture.contents.keep(tx, taken));
      taken.release();
      assert.deepEqual(await fixture.read(content), bytes);
    }
  });

  promise("digests that were not requested are not computed", async (fixture) => {
    for (const length of [100, 100_000]) {
      const taken = await fixture.contents.take(inParts(someBytes(length, 1), 9_999), NO_DIGESTS);
      assert.deepEqual([taken.md5, taken.crc64], [null, null]);
      taken.release();
    }
  });

  promise(
    "more concurrent large bodies than the MD5 thread has lanes each get their MD5",
    async (fixture) => {
      const all = Array.from({ length: 7 }, (_, at) => someBytes(4_300_000 + at, at));
      const digests = { md5: true, crc64: false };
      const taken = await Promise.all(
        all.map((bytes) => fixture.contents.take(inParts(bytes, 70_001), digests)),
      );
      for (const [at, bytes] of all.entries()) {
        assert.deepEqual(taken[at]?.md5, createHash("md5").update(bytes).digest());
        taken[at]?.release();
      }
    },
  );

  promise("a small body is stored inline, a larger one in extents", async (fixture) => {
    const small = await fixture.put(someBytes(INLINE_BYTES_MAX, 1));
    assert.equal(small.kind, "inline");
    assert.equal(fixture.bytesOnDisk(), 0);
    const large = await fixture.put(someBytes(INLINE_BYTES_MAX + 1, 1));
    assert.equal(large.kind, "extent");
    assert.ok(fixture.bytesOnDisk() > INLINE_BYTES_MAX);
  });

  promise(
    "dropping the last reference to a leaf in one piece frees it at once",
    async (fixture) => {
      const leaf = await fixture.put(someBytes(100_000, 1));
      const reading = await fixture.open(leaf);
      await fixture.share(leaf);
      await fixture.drop(leaf);
      assert.deepEqual(await fixture.read(leaf), someBytes(100_000, 1));
      await fixture.drop(leaf);
      assert.deepEqual(await fixture.records(), []);
      await fixture.sweepAll();
      // A reader that has pinned its bytes still gets them.
      assert.deepEqual(await gather(reading), someBytes(100_000, 1));
      reading.close();
      await fixture.sweepAll();
      await fixture.assertNothingLeft();
    },
  );

  promise("any range of a leaf can be read", async (fixture) => {
    for (const bytes of [someBytes(5_000, 1), someBytes(700_000, 2)]) {
      const leaf = await fixture.put(bytes);
      const edges = [0, 1, 4_999, 5_000, 131_072, 400_000, 699_999, 700_000];
      for (const from of edges.filter((edge) => edge <= bytes.length)) {
        for (const until of edges.filter((edge) => edge >= from && edge <= bytes.length)) {
          const read = await fixture.read(leaf, from, until - from);
          assert.ok(read.equals(bytes.subarray(from, until)), `${from} to ${until}`);
        }
      }
    }
  });

  promise("a range beyond the end is refused", async (fixture) => {
    const leaf = await fixture.put(someBytes(100, 1));
    await assert.rejects(fixture.open(leaf, 50, 51), RangeError);
    await assert.rejects(fixture.open(leaf, -1, 1), RangeError);
  });

  promise("a list reads as the concatenation of its parts, from any offset", async (fixture) => {
    const { parts, bytes } = await manyParts(fixture, 600);
    const list = await fixture.compose(parts);
    assert.deepEqual([list.kind, list.length], ["list", bytes.length]);
    assert.ok((await fixture.read(list)).equals(bytes));
    for (const from of [0, 1, 40_000, bytes.length >> 1, bytes.length - 1, bytes.length]) {
      for (const length of [0, 1, 30_000, bytes.length]) {
        const until = Math.min(from + length, bytes.length);
        const read = await fixture.read(list, from, until - from);
        assert.ok(read.equals(bytes.subarray(from, until)), `${from} to ${until}`);
      }
    }
  });

  promise("the parts of a list can be listed in pages", async (fixture) => {
    const { parts } = await manyParts(fixture, 600);
    const list = await fixture.compose(parts);
    for (const [skip, limit] of [
      [0, 1_000],
      [0, 5],
      [250, 10],
      [256, 256],
      [599, 9],
      [600, 1],
    ]) {
      const from = skip as number;
      const listed = await fixture.store.read((view) =>
        fixture.contents.partsOf(view, list, from, limit as number),
      );
      assert.deepEqual(listed, parts.slice(from, from + (limit as number)));
    }
    const leaf = await fixture.put(someBytes(9, 1));
    assert.deepEqual(
      await fixture.store.read((view) => fixture.contents.partsOf(view, leaf, 0, 9)),
      [],
    );
  });

  promise("a list without parts is empty", async (fixture) => {
    const list = await fixture.compose([]);
    assert.equal(list.length, 0);
    assert.equal((await fixture.read(list)).length, 0);
    await fixture.drop(list);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("a reading of inline bytes has them whole", async (fixture) => {
    const leaf = await fixture.put(someBytes(3_000, 1));
    const list = await fixture.compose([partOf(leaf, 1_000, 500), partOf(leaf, 0, 10)]);
    const reading = await fixture.open(list);
    const expected = Buffer.concat([
      someBytes(3_000, 1).subarray(1_000, 1_500),
      someBytes(3_000, 1).subarray(0, 10),
    ]);
    assert.deepEqual(reading.whole, expected);
    reading.close();
  });

  promise("a content exists until it was dropped once more than it was shared", async (fixture) => {
    for (const length of [1_000, 100_000]) {
      const bytes = someBytes(length, 1);
      const content = await fixture.put(bytes);
      await fixture.share(content);
      await fixture.share(content);
      for (let drops = 0; drops < 2; drops++) {
        await fixture.drop(content);
        await fixture.sweepAll();
        assert.deepEqual(await fixture.read(content), bytes);
      }
      await fixture.drop(content);
      await fixture.sweepAll();
      await fixture.assertNothingLeft();
    }
  });

  promise("dropping a list drops its parts, except those that are shared", async (fixture) => {
    const { parts } = await manyParts(fixture, 300);
    const survivor = (parts[7] as Part).content;
    const bytes = await fixture.read(survivor);
    await fixture.share(survivor);
    const list = await fixture.compose(parts);
    await fixture.drop(list);
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(survivor), bytes);
    await fixture.drop(survivor);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise(
    "a reader gets its bytes, even if the space of the content is reused",
    async (fixture) => {
      const bytes = someBytes(100_000, 1);
      const content = await fixture.put(bytes);
      const reading = await fixture.open(content);
      await fixture.drop(content);
      for (let round = 0; round < 50; round++)
        await fixture.drop(await fixture.put(someBytes(99_999, 2)));
      assert.deepEqual(await gather(reading), bytes);
      reading.close();
      await fixture.sweepAll();
      await fixture.assertNothingLeft();
    },
  );

  promise("a slice copies no bytes, and outlives the content it was cut from", async (fixture) => {
    const { parts, bytes } = await manyParts(fixture, 600);
    const list = await fixture.compose(parts);
    const before = fixture.bytesOnDisk();
    const slice = await fixture.slice(list, 20_001, 60_000);
    assert.equal(fixture.bytesOnDisk(), before);
    await fixture.drop(list);
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(slice), bytes.subarray(20_001, 80_001));
    const outer = await fixture.compose([partOf(slice, 5, 50_000)]);
    assert.deepEqual(await fixture.read(outer, 1_000, 30_000), bytes.subarray(21_006, 51_006));
    const again = await fixture.slice(outer, 1_000, 30_000);
    await fixture.drop(outer);
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(again), bytes.subarray(21_006, 51_006));
    await fixture.drop(again);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("bytes in very many pieces, or in a map, are not sliced", async (fixture) => {
    const leaf = await fixture.put(someBytes(20_000, 1));
    for (let more = 1; more < 2_500; more++) await fixture.share(leaf);
    const list = await fixture.compose(Array.from({ length: 2_500 }, () => partOf(leaf, 7, 1)));
    const tries = await fixture.store.transact((tx) => [
      fixture.contents.slice(tx, list, 0, 2_500),
      fixture.contents.slice(tx, fixture.contents.maps.create(tx, 100), 0, 100),
    ]);
    assert.deepEqual(tries, [null, null]);
    assert.equal((await fixture.slice(list, 0, 2_000)).length, 2_000);
  });

  promise("bytes can be kept once, and not after they were released", async (fixture) => {
    const taken = await fixture.contents.take(inParts(someBytes(50_000, 1), 9_000), NO_DIGESTS);
    const keep = () => fixture.store.transact((tx) => fixture.contents.keep(tx, taken));
    await keep();
    await assert.rejects(keep(), /only once/);
    taken.release();
    await assert.rejects(keep(), /released/);
  });
}

/** Small and large parts, some of them ranges of the same leaf. */
async function manyParts(
  fixture: ContentsFixture,
  count: number,
): Promise<{ parts: Part[]; bytes: Buffer }> {
  const large = await fixture.put(someBytes(90_000, 999));
  for (let at = 15; at < count; at += 10) await fixture.share(large);
  const make = async (at: number): Promise<[Part, Buffer]> => {
    if (at % 10 === 5) {
      return [partOf(large, at, 2_000), someBytes(90_000, 999).subarray(at, at + 2_000)];
    }
    const bytes = someBytes(at % 25 === 3 ? 20_000 : 1 + (at % 7) * 40, at);
    return [partOf(await fixture.put(bytes)), bytes];
  };
  const made = await Promise.all(Array.from({ length: count }, (_, at) => make(at)));
  return {
    parts: made.map(([part]) => part),
    bytes: Buffer.concat(made.map(([, bytes]) => bytes)),
  };
}
