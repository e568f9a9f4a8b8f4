import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type ContentsBench, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
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
) => Promise<ContentsBench>;

/** What contents promise on every engine. */
export function contentsContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (bench: ContentsBench) => Promise<void>) =>
    test(`contents on ${engine}: ${name}`, async (t) => check(await open(t)));

  promise("a body is read back unchanged, with the requested digests", async (bench) => {
    for (const length of [0, 1, INLINE_BYTES_MAX, INLINE_BYTES_MAX + 1, 700_000, 9_000_001]) {
      const bytes = someBytes(length, length);
      const taken = await bench.contents.take(inParts(bytes, 65_000), { md5: true, crc64: true });
      assert.deepEqual(taken.md5, createHash("md5").update(bytes).digest());
      assert.deepEqual(taken.crc64, crc64(bytes));
      const content = await bench.store.transact((tx) => bench.contents.keep(tx, taken));
      taken.release();
      assert.deepEqual(await bench.read(content), bytes);
    }
  });

  promise("digests that were not requested are not computed", async (bench) => {
    for (const length of [100, 100_000]) {
      const taken = await bench.contents.take(inParts(someBytes(length, 1), 9_999), NO_DIGESTS);
      assert.deepEqual([taken.md5, taken.crc64], [null, null]);
      taken.release();
    }
  });

  promise(
    "more concurrent large bodies than the MD5 thread has lanes each get their MD5",
    async (bench) => {
      const all = Array.from({ length: 7 }, (_, at) => someBytes(4_300_000 + at, at));
      const digests = { md5: true, crc64: false };
      const taken = await Promise.all(
        all.map((bytes) => bench.contents.take(inParts(bytes, 70_001), digests)),
      );
      for (const [at, bytes] of all.entries()) {
        assert.deepEqual(taken[at]?.md5, createHash("md5").update(bytes).digest());
        taken[at]?.release();
      }
    },
  );

  promise("a small body is stored inline, a larger one in extents", async (bench) => {
    const small = await bench.put(someBytes(INLINE_BYTES_MAX, 1));
    assert.equal(small.kind, "inline");
    assert.equal(bench.bytesOnDisk(), 0);
    const large = await bench.put(someBytes(INLINE_BYTES_MAX + 1, 1));
    assert.equal(large.kind, "extent");
    assert.ok(bench.bytesOnDisk() > INLINE_BYTES_MAX);
  });

  promise("dropping the last reference to a leaf in one piece frees it at once", async (bench) => {
    const leaf = await bench.put(someBytes(100_000, 1));
    const reading = await bench.open(leaf);
    await bench.share(leaf);
    await bench.drop(leaf);
    assert.deepEqual(await bench.read(leaf), someBytes(100_000, 1));
    await bench.drop(leaf);
    assert.deepEqual(await bench.records(), []);
    await bench.sweepAll();
    // A reader that has pinned its bytes still gets them.
    assert.deepEqual(await gather(reading), someBytes(100_000, 1));
    reading.close();
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("any range of a leaf can be read", async (bench) => {
    for (const bytes of [someBytes(5_000, 1), someBytes(700_000, 2)]) {
      const leaf = await bench.put(bytes);
      const edges = [0, 1, 4_999, 5_000, 131_072, 400_000, 699_999, 700_000];
      for (const from of edges.filter((edge) => edge <= bytes.length)) {
        for (const until of edges.filter((edge) => edge >= from && edge <= bytes.length)) {
          const read = await bench.read(leaf, from, until - from);
          assert.ok(read.equals(bytes.subarray(from, until)), `${from} to ${until}`);
        }
      }
    }
  });

  promise("a range beyond the end is refused", async (bench) => {
    const leaf = await bench.put(someBytes(100, 1));
    await assert.rejects(bench.open(leaf, 50, 51), RangeError);
    await assert.rejects(bench.open(leaf, -1, 1), RangeError);
  });

  promise("a list reads as the concatenation of its parts, from any offset", async (bench) => {
    const { parts, bytes } = await manyParts(bench, 600);
    const list = await bench.compose(parts);
    assert.deepEqual([list.kind, list.length], ["list", bytes.length]);
    assert.ok((await bench.read(list)).equals(bytes));
    for (const from of [0, 1, 40_000, bytes.length >> 1, bytes.length - 1, bytes.length]) {
      for (const length of [0, 1, 30_000, bytes.length]) {
        const until = Math.min(from + length, bytes.length);
        const read = await bench.read(list, from, until - from);
        assert.ok(read.equals(bytes.subarray(from, until)), `${from} to ${until}`);
      }
    }
  });

  promise("the parts of a list can be listed in pages", async (bench) => {
    const { parts } = await manyParts(bench, 600);
    const list = await bench.compose(parts);
    for (const [skip, limit] of [
      [0, 1_000],
      [0, 5],
      [250, 10],
      [256, 256],
      [599, 9],
      [600, 1],
    ]) {
      const from = skip as number;
      const listed = await bench.store.read((view) =>
        bench.contents.partsOf(view, list, from, limit as number),
      );
      assert.deepEqual(listed, parts.slice(from, from + (limit as number)));
    }
    const leaf = await bench.put(someBytes(9, 1));
    assert.deepEqual(
      await bench.store.read((view) => bench.contents.partsOf(view, leaf, 0, 9)),
      [],
    );
  });

  promise("a list without parts is empty", async (bench) => {
    const list = await bench.compose([]);
    assert.equal(list.length, 0);
    assert.equal((await bench.read(list)).length, 0);
    await bench.drop(list);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("a reading of inline bytes has them whole", async (bench) => {
    const leaf = await bench.put(someBytes(3_000, 1));
    const list = await bench.compose([partOf(leaf, 1_000, 500), partOf(leaf, 0, 10)]);
    const reading = await bench.open(list);
    const expected = Buffer.concat([
      someBytes(3_000, 1).subarray(1_000, 1_500),
      someBytes(3_000, 1).subarray(0, 10),
    ]);
    assert.deepEqual(reading.whole, expected);
    reading.close();
  });

  promise("a content exists until it was dropped once more than it was shared", async (bench) => {
    for (const length of [1_000, 100_000]) {
      const bytes = someBytes(length, 1);
      const content = await bench.put(bytes);
      await bench.share(content);
      await bench.share(content);
      for (let drops = 0; drops < 2; drops++) {
        await bench.drop(content);
        await bench.sweepAll();
        assert.deepEqual(await bench.read(content), bytes);
      }
      await bench.drop(content);
      await bench.sweepAll();
      await bench.assertNothingLeft();
    }
  });

  promise("dropping a list drops its parts, except those that are shared", async (bench) => {
    const { parts } = await manyParts(bench, 300);
    const survivor = (parts[7] as Part).content;
    const bytes = await bench.read(survivor);
    await bench.share(survivor);
    const list = await bench.compose(parts);
    await bench.drop(list);
    await bench.sweepAll();
    assert.deepEqual(await bench.read(survivor), bytes);
    await bench.drop(survivor);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("repeated uploads and drops take little space, even without sweeps", async (bench) => {
    for (let round = 0; round < 100; round++) {
      const bytes = someBytes(100_000, round);
      const content = await bench.put(bytes);
      assert.deepEqual(await bench.read(content), bytes);
      await bench.drop(content);
      const used = bench.bytesOnDisk();
      assert.ok(used <= 3 * CONTENTS_EXTENT_BYTES, `${used} bytes in round ${round}`);
    }
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("a reader gets its bytes, even if the space of the content is reused", async (bench) => {
    const bytes = someBytes(100_000, 1);
    const content = await bench.put(bytes);
    const reading = await bench.open(content);
    await bench.drop(content);
    for (let round = 0; round < 50; round++)
      await bench.drop(await bench.put(someBytes(99_999, 2)));
    assert.deepEqual(await gather(reading), bytes);
    reading.close();
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("a slice copies no bytes, and outlives the content it was cut from", async (bench) => {
    const { parts, bytes } = await manyParts(bench, 600);
    const list = await bench.compose(parts);
    const before = bench.bytesOnDisk();
    const slice = await bench.slice(list, 20_001, 60_000);
    assert.equal(bench.bytesOnDisk(), before);
    await bench.drop(list);
    await bench.sweepAll();
    assert.deepEqual(await bench.read(slice), bytes.subarray(20_001, 80_001));
    const outer = await bench.compose([partOf(slice, 5, 50_000)]);
    assert.deepEqual(await bench.read(outer, 1_000, 30_000), bytes.subarray(21_006, 51_006));
    const again = await bench.slice(outer, 1_000, 30_000);
    await bench.drop(outer);
    await bench.sweepAll();
    assert.deepEqual(await bench.read(again), bytes.subarray(21_006, 51_006));
    await bench.drop(again);
    await bench.sweepAll();
    await bench.assertNothingLeft();
  });

  promise("bytes in very many pieces, or in a map, are not sliced", async (bench) => {
    const leaf = await bench.put(someBytes(20_000, 1));
    for (let more = 1; more < 2_500; more++) await bench.share(leaf);
    const list = await bench.compose(Array.from({ length: 2_500 }, () => partOf(leaf, 7, 1)));
    const tries = await bench.store.transact((tx) => [
      bench.contents.slice(tx, list, 0, 2_500),
      bench.contents.slice(tx, bench.contents.maps.create(tx, 100), 0, 100),
    ]);
    assert.deepEqual(tries, [null, null]);
    assert.equal((await bench.slice(list, 0, 2_000)).length, 2_000);
  });

  promise("bytes can be kept once, and not after they were released", async (bench) => {
    const taken = await bench.contents.take(inParts(someBytes(50_000, 1), 9_000), NO_DIGESTS);
    const keep = () => bench.store.transact((tx) => bench.contents.keep(tx, taken));
    await keep();
    await assert.rejects(keep(), /only once/);
    taken.release();
    await assert.rejects(keep(), /released/);
  });
}

/** Small and large parts, some of them ranges of the same leaf. */
async function manyParts(
  bench: ContentsBench,
  count: number,
): Promise<{ parts: Part[]; bytes: Buffer }> {
  const large = await bench.put(someBytes(90_000, 999));
  for (let at = 15; at < count; at += 10) await bench.share(large);
  const make = async (at: number): Promise<[Part, Buffer]> => {
    if (at % 10 === 5) {
      return [partOf(large, at, 2_000), someBytes(90_000, 999).subarray(at, at + 2_000)];
    }
    const bytes = someBytes(at % 25 === 3 ? 20_000 : 1 + (at % 7) * 40, at);
    return [partOf(await bench.put(bytes)), bytes];
  };
  const made = await Promise.all(Array.from({ length: count }, (_, at) => make(at)));
  return {
    parts: made.map(([part]) => part),
    bytes: Buffer.concat(made.map(([, bytes]) => bytes)),
  };
}
