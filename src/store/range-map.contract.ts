import assert from "node:assert/strict";
import { test } from "node:test";
import { drainBorrowed } from "../base/borrowed-buffer.ts";
import { type Bytes, wholeBody } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { TIB } from "../base/limits.ts";
import { NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { MapFixture, PAGE, page, prefetchMaps } from "../content/range-map.fixture.ts";
import { gather, someBytes } from "./bodies.fixture.ts";
import type { OpenContents } from "./contents.contract.ts";

/** What maps promise on every engine, beyond what the model checks. */
export function rangeMapContract(engine: string, open: OpenContents): void {
  const promise = (name: string, check: (fixture: MapFixture) => Promise<void>) =>
    test(`maps on ${engine}: ${name}`, async (t) => check(new MapFixture(await open(t))));

  promise(
    "an empty map of 8 TiB takes no space, and bytes at its end can be read",
    async (fixture) => {
      let map = await fixture.create(8 * TIB);
      assert.equal((await fixture.contents.records()).length, 0);
      map = await fixture.write(map, 8 * TIB - PAGE, someBytes(PAGE, 1));
      await fixture.expect(map, 8 * TIB - 2 * PAGE, [Buffer.alloc(PAGE), someBytes(PAGE, 1)]);
      assert.deepEqual(await fixture.ranges(map), [[8 * TIB - PAGE, 8 * TIB]]);
      assert.equal((await fixture.contents.records()).length, 1);
    },
  );

  promise(
    "a map can be created with a first body, and is at least as long as that",
    async (fixture) => {
      const { store, contents } = fixture.contents;
      for (const [bytes, length] of [
        [100, 1_000],
        [100_000, 50],
        [100_000, TIB],
      ] as const) {
        const body = someBytes(bytes, 1);
        const taken = await contents.take(wholeBody(body), NO_DIGESTS);
        const map = await store.transact((tx) => contents.maps.create(tx, length, taken));
        taken.release();
        assert.equal(map.length, Math.max(bytes, length));
        const zeroes = Buffer.alloc(Math.min(map.length - bytes, 10));
        await fixture.expect(map, 0, zeroes.length === 0 ? [body] : [body, zeroes]);
        assert.deepEqual(await fixture.ranges(map), [[0, bytes]]);
        await fixture.contents.drop(map);
      }
      await fixture.contents.sweepAll();
      assert.equal((await fixture.contents.records()).length, 0);
    },
  );

  promise(
    "appended bytes follow the others, and a snapshot does not show them",
    async (fixture) => {
      const parts = Array.from({ length: 300 }, (_, at) =>
        someBytes(at === 150 ? 100_000 : 5_000, at),
      );
      const early = Buffer.concat(parts.slice(0, 200));
      const all = Buffer.concat(parts);
      let map = await fixture.create(0);
      for (const part of parts.slice(0, 200)) map = await fixture.append(map, part);
      const snapshot = map;
      await fixture.contents.share(snapshot);
      for (const part of parts.slice(200)) map = await fixture.append(map, part);
      for (let round = 0; round < 2; round++) {
        await fixture.expect(map, 0, [all]);
        await fixture.expect(snapshot, 0, [early]);
        assert.deepEqual(await fixture.ranges(map), [[0, all.length]]);
        await fixture.contents.sweepAll();
      }
      for (const one of [map, snapshot]) await fixture.contents.drop(one);
      await fixture.contents.sweepAll();
      assert.equal((await fixture.contents.records()).length, 0);
    },
  );

  promise("a snapshot costs one record, whatever the size of the map", async (fixture) => {
    let map = await fixture.create(TIB);
    map = await fixture.writePages(map, 100, 2);
    const records = (await fixture.contents.records()).length;
    await fixture.contents.share(map);
    assert.equal((await fixture.contents.records()).length, records + 1);
    const later = await fixture.write(map, 0, page(1_000));
    assert.equal((await fixture.contents.records()).length, records + 3);
    await fixture.expect(map, 0, [page(0)]);
    await fixture.expect(later, 0, [page(1_000), Buffer.alloc(PAGE), page(1)]);
  });

  promise("a map with thousands of snapshots can be read and listed", async (fixture) => {
    const snapshots = 5_000;
    const map = await fixture.writeBetweenSnapshots(await fixture.create(TIB), snapshots);
    await fixture.expect(map, TIB - PAGE, [Buffer.alloc(PAGE)]);
    await fixture.expect(map, 0, [page(0), page(0), page(0)]);
    const { store, contents } = fixture.contents;
    const all = await store.read((view) => contents.maps.ranges(view, map, 0, TIB, 10));
    assert.deepEqual(all.found, [{ start: 0, end: 2_000 * PAGE, isCleared: false }]);
    assert.equal(all.next, 2_000 * PAGE);
  });

  promise(
    "after a snapshot is dropped, its layer is joined with the one on top",
    async (fixture) => {
      const first = await fixture.write(await fixture.create(TIB), 0, someBytes(100_000, 1));
      await fixture.contents.share(first);
      const second = await fixture.write(first, 50_000, someBytes(100, 2));
      await fixture.contents.drop(first);
      await fixture.contents.sweepAll();
      assert.equal(await fixture.recordsIn(SPACE.rangeLayer), 0);
      await fixture.expect(second, 0, [
        someBytes(100_000, 1).subarray(0, 50_000),
        someBytes(100, 2),
        someBytes(100_000, 1).subarray(50_100),
      ]);
      await fixture.contents.drop(second);
      await fixture.contents.sweepAll();
      await fixture.contents.assertNothingLeft();
    },
  );

  promise(
    "the sweeper reports that it is done only when all dropped maps are freed",
    async (fixture) => {
      for (const maps of [1, 15, 16, 17, 32]) {
        for (let at = 0; at < maps; at++) {
          const below = await fixture.write(await fixture.create(TIB), 0, page(1));
          await fixture.contents.share(below);
          const above = await fixture.write(below, 0, page(2));
          await fixture.contents.drop(below);
          await fixture.contents.drop(above);
        }
        while (await fixture.contents.contents.sweep());
        assert.deepEqual(await fixture.contents.records(), [], `after ${maps} maps`);
      }
    },
  );

  promise("small neighbouring entries are merged into few large ones", async (fixture) => {
    let map = await fixture.create(TIB);
    map = await fixture.writePages(map, 1_024, 2);
    map = await fixture.writePages(map, 1_024, 2, 1);
    assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 2_048);
    await fixture.contents.sweepAll();
    const left = await fixture.recordsIn(SPACE.rangeEntry);
    assert.ok(left <= 16, `${left} entries`);
    assert.equal(await fixture.recordsIn(SPACE.crowdedRegion), 0);
    assert.deepEqual(await fixture.ranges(map), [[0, 2_048 * PAGE]]);
    const all = Array.from({ length: 2_048 }, (_, at) => page(at >> 1));
    await fixture.expect(map, 0, all);
  });

  promise("writes during a merge of entries are not lost", async (fixture) => {
    let map = await fixture.create(TIB);
    map = await fixture.writePages(map, 300, 1);
    const sweeps = Array.from({ length: 10 }, () => fixture.contents.contents.sweep());
    for (let at = 0; at < 300; at += 7) map = await fixture.write(map, at * PAGE, page(at + 1_000));
    await Promise.all(sweeps);
    await fixture.contents.sweepAll();
    const expected = Array.from({ length: 300 }, (_, at) => page(at % 7 === 0 ? at + 1_000 : at));
    await fixture.expect(map, 0, expected);
  });

  promise(
    "entries that are too many for one write to replace are hidden, then freed",
    async (fixture) => {
      let map = await fixture.create(TIB);
      map = await fixture.writePages(map, 1_100, 2);
      const { contents, store } = fixture.contents;
      map = await store.transact((tx) => contents.maps.clear(tx, map, PAGE, TIB));
      assert.equal(await fixture.recordsIn(SPACE.rangeEntry), 1_101);
      assert.deepEqual(await fixture.ranges(map), [[0, PAGE]]);
      map = await fixture.write(map, 10 * PAGE, page(1));
      await fixture.contents.sweepAll();
      assert.deepEqual(await fixture.ranges(map), [
        [0, PAGE],
        [10 * PAGE, 11 * PAGE],
      ]);
      assert.equal(await fixture.recordsIn(SPACE.rangeLayer), 0);
      assert.ok((await fixture.recordsIn(SPACE.rangeEntry)) <= 5);
    },
  );

  promise(
    "a reading whose pieces are found in one lookup does not show later writes",
    async (fixture) => {
      let map = await fixture.write(await fixture.create(0), 0, someBytes(100_000, 1));
      map = await fixture.write(map, 10 * PAGE, page(1));
      const reading = await fixture.contents.open(map);
      assert.ok(reading.isStable);
      map = await fixture.write(map, 0, someBytes(100_000, 2));
      await fixture.contents.drop(map);
      await fixture.contents.sweepAll();
      assert.equal((await fixture.contents.records()).length, 0);
      const expected = someBytes(100_000, 1);
      page(1).copy(expected, 10 * PAGE);
      assert.deepEqual(await gather(reading), expected);
      reading.close();
      await fixture.contents.sweepAll();
      await fixture.contents.assertNothingLeft();
    },
  );

  promise("a frozen reading of very many pieces does not show later writes", async (fixture) => {
    let map = await fixture.create(4_000 * PAGE);
    map = await fixture.writePages(map, 2_000, 2);
    const unstable = await fixture.contents.open(map);
    assert.equal(unstable.isStable, false);
    unstable.close();
    const { contents, store } = fixture.contents;
    const frozen = await store.transact((tx) => contents.maps.openFrozen(tx, map, 0, map.length));
    map = frozen.map;
    const again = await store.transact((tx) => contents.maps.openFrozen(tx, map, 0, map.length));
    assert.equal(again.map.id, map.id, "no new layer if nothing was written");
    again.reading.close();

    const parts: Bytes[] = [];
    await drainBorrowed(frozen.reading, async (part) => {
      if (parts.length % 1_000 === 0) {
        map = await fixture.write(map, (3_998 - parts.length) * PAGE, page(9_999));
        await fixture.contents.sweepAll();
      }
      parts.push(Buffer.from(part));
    });
    const expected = Array.from({ length: 4_000 }, (_, at) =>
      at % 2 === 0 ? page(at / 2) : Buffer.alloc(PAGE),
    );
    assert.ok(Buffer.concat(parts).equals(Buffer.concat(expected)));
    frozen.reading.close();
    await fixture.contents.sweepAll();
    assert.equal(await fixture.recordsIn(SPACE.rangeLayer), 0, "layers are joined again");
    await fixture.contents.drop(map);
    await fixture.contents.sweepAll();
    await fixture.contents.assertNothingLeft();
  });

  promise("a map that is dropped during a read in steps is read to its end", async (fixture) => {
    let map = await fixture.create(0);
    map = await fixture.writePages(map, 1_500, 1);
    const reading = await fixture.contents.open(map);
    await fixture.contents.drop(map);
    await fixture.contents.sweepAll();
    const expected = Array.from({ length: 1_500 }, (_, at) => page(at));
    assert.ok((await gather(reading)).equals(Buffer.concat(expected)));
    reading.close();
    await fixture.contents.sweepAll();
    await fixture.contents.assertNothingLeft();
  });

  promise("placing bytes of a list copies none, and replaces those of the map", async (fixture) => {
    const parts = [someBytes(20_000, 1), someBytes(100, 2), someBytes(30_000, 3)];
    const list = await fixture.contents.compose(
      await Promise.all(parts.map(async (part) => partOf(await fixture.contents.put(part)))),
    );
    let map = await fixture.write(await fixture.create(TIB), 0, someBytes(5_000, 4));
    await fixture.contents.share(map);
    const snapshot = map;
    const before = fixture.contents.bytesOnDisk();
    map = await fixture.place(map, 1_000, list, 10_000, 20_000);
    assert.equal(fixture.contents.bytesOnDisk(), before);
    await fixture.contents.drop(list);
    await fixture.contents.sweepAll();
    const expected = Buffer.concat(parts).subarray(10_000, 30_000);
    await fixture.expect(map, 0, [
      someBytes(5_000, 4).subarray(0, 1_000),
      expected,
      Buffer.alloc(9),
    ]);
    await fixture.expect(snapshot, 0, [someBytes(5_000, 4)]);
    for (const content of [map, snapshot]) await fixture.contents.drop(content);
    await fixture.contents.sweepAll();
    await fixture.contents.assertNothingLeft();
  });

  promise("placing a hole makes a hole in the map", async (fixture) => {
    const sparse = await fixture.write(await fixture.create(TIB), 2 * PAGE, page(1));
    let map = await fixture.writePages(await fixture.create(TIB), 8, 1);
    await fixture.contents.share(map);
    map = await fixture.place(map, PAGE, sparse, 0, 5 * PAGE);
    assert.deepEqual(await fixture.ranges(map), [
      [0, PAGE],
      [3 * PAGE, 4 * PAGE],
      [6 * PAGE, 8 * PAGE],
    ]);
    await fixture.expect(map, 2 * PAGE, [Buffer.alloc(PAGE), page(1), Buffer.alloc(PAGE)]);
  });

  promise("bytes in very many pieces are not placed, and nothing changes", async (fixture) => {
    const many = await fixture.writePages(await fixture.create(TIB), 2_500, 2);
    const map = await fixture.create(TIB);
    const { contents, store } = fixture.contents;
    const place = (length: number) =>
      store.transact((tx) => contents.maps.place(tx, map, 0, many, 0, length));
    assert.equal(await place(5_000 * PAGE), null);
    assert.deepEqual(await fixture.ranges(map), []);
    assert.notEqual(await place(3_000 * PAGE), null);
  });

  promise("zeroes in very many pieces are not placed, either", async (fixture) => {
    const { contents, store } = fixture.contents;
    const whole = await fixture.write(await fixture.create(5_000 * PAGE), 0, page(0));
    await fixture.contents.share(whole);
    const holes = await store.transact((tx) => {
      prefetchMaps(tx);
      let map = whole;
      for (let at = 1; at < 2_500; at++) {
        map = contents.maps.clear(tx, map, at * 2 * PAGE, (at * 2 + 1) * PAGE);
      }
      return map;
    });
    const map = await fixture.create(TIB);
    const place = (length: number) =>
      store.transact((tx) => contents.maps.place(tx, map, 0, holes, 0, length));
    assert.equal(await place(5_000 * PAGE), null);
    assert.notEqual(await place(3_000 * PAGE), null);
  });

  promise("there are no changes since a map that is not an earlier state", async (fixture) => {
    const map = await fixture.write(await fixture.create(TIB), 0, page(1));
    const other = await fixture.create(TIB);
    const { contents, store } = fixture.contents;
    const changes = await store.read((view) => contents.maps.changes(view, map, other, 0, TIB, 10));
    assert.equal(changes, null);
  });

  promise(
    "many ranges are listed in pages, each of which starts where the last ended",
    async (fixture) => {
      let map = await fixture.create(TIB);
      map = await fixture.writePages(map, 10, 2);
      const { contents, store } = fixture.contents;
      const { found, next } = await store.read((view) =>
        contents.maps.ranges(view, map, 0, TIB, 4),
      );
      assert.equal(found.length, 4);
      assert.equal(next, 8 * PAGE);
      const rest = await store.read((view) => contents.maps.ranges(view, map, next ?? 0, TIB, 100));
      assert.deepEqual([rest.found.length, rest.next], [6, null]);
    },
  );
}
