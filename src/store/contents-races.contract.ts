import assert from "node:assert/strict";
import { test } from "node:test";
import { drainBorrowed } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";
import { key, SPACE } from "../base/keys.ts";
import { ContentsFixture, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { gather, inParts, someBytes } from "./bodies.fixture.ts";
import type { Content, Reading } from "./content.ts";
import type { OpenContents } from "./contents.contract.ts";
import type { Extents } from "./extents.ts";

/**
 * What contents promise while reads, writes and the sweeper run concurrently. Bodies of
 * `sharingBytes` that are put at the same time lie in one extent.
 */
export function contentsRacesContract(
  engine: string,
  open: OpenContents,
  sharingBytes = 100_000,
): void {
  const promise = (name: string, check: (fixture: ContentsFixture) => Promise<void>) =>
    test(`contents on ${engine}: ${name}`, async (t) => check(await open(t)));

  promise("a leaf dropped during a slow read is read to its end, then freed", async (fixture) => {
    const bytes = someBytes(900_000, 1);
    const leaf = await fixture.put(bytes);
    const reading = await fixture.open(leaf);
    await readSlowly(reading, bytes, async () => {
      await fixture.drop(leaf);
      await fixture.sweepAll();
      assert.ok(fixture.bytesOnDisk() >= bytes.length, "its space is not freed yet");
    });
    reading.close();
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("a reading of inline bytes does not change after the open", async (fixture) => {
    const leaf = await fixture.put(someBytes(3_000, 1));
    const reading = await fixture.open(leaf);
    await fixture.drop(leaf);
    for (let at = 2; at < 20; at++) await fixture.read(await fixture.put(someBytes(3_000, at)));
    assert.deepEqual(reading.whole, someBytes(3_000, 1));
    reading.close();
  });

  // One lookup finds up to 64 parts, and a segment has up to 256.
  for (const parts of [64, 65, 300]) {
    promise(
      `a list of ${parts} dropped during a slow read is read to its end, then freed`,
      async (fixture) => {
        const { list, bytes, neighbours } = await largeList(fixture, parts);
        const reading = await fixture.open(list);
        const other = await fixture.open(list);
        await readSlowly(reading, bytes, async () => {
          await fixture.drop(list);
          await Promise.all(neighbours.map((neighbour) => fixture.drop(neighbour)));
          await fixture.sweepAll();
        });
        reading.close();
        reading.close();
        await fixture.sweepAll();
        assert.deepEqual(await gather(other), bytes);
        other.close();
        await fixture.sweepAll();
        await fixture.assertNothingLeft();
      },
    );
  }

  promise(
    "contents that are being read do not keep the sweeper from other garbage",
    async (fixture) => {
      const newList = async (seed: number) =>
        fixture.compose([partOf(await fixture.put(someBytes(10, seed)))]);
      const lists = await Promise.all(Array.from({ length: 140 }, (_, at) => newList(at)));
      lists.sort((a, b) => Number(a.id - b.id));
      const readings = await Promise.all(lists.slice(0, 130).map((list) => fixture.open(list)));
      await Promise.all(lists.map((list) => fixture.drop(list)));
      await fixture.sweepAll();
      for (const list of lists.slice(130))
        await assert.rejects(fixture.read(list), { kind: "damaged" });
      for (const reading of readings) reading.close();
      await fixture.sweepAll();
      await fixture.assertNothingLeft();
    },
  );

  promise("a leaf that moves during a slow read is read to its end", async (fixture) => {
    const bytes = someBytes(sharingBytes, 1);
    const { leaf, neighbours } = await mostlyDeadExtent(fixture, bytes);
    const reading = await fixture.open(leaf);
    await readSlowly(reading, bytes, async () => {
      for (const neighbour of neighbours) await fixture.drop(neighbour);
      await fixture.sweepAll();
    });
    reading.close();
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(leaf), bytes);
    assert.ok(fixture.bytesOnDisk() < 2 * bytes.length, "the dead bytes around it are freed");
  });

  promise(
    "a list whose parts move between two steps of a read is read to its end",
    async (fixture) => {
      const { list, bytes, neighbours } = await largeList(fixture, 300);
      const reading = await fixture.open(list);
      await readSlowly(reading, bytes, async () => {
        await Promise.all(neighbours.map((neighbour) => fixture.drop(neighbour)));
        await fixture.sweepAll();
      });
      reading.close();
      assert.deepEqual(await fixture.read(list), bytes);
    },
  );

  test(`contents on ${engine}: a leaf dropped while it moves is freed with its copy`, async (t) => {
    let onCopied = async () => {};
    const fixture = await open(t, (extents) => {
      const write: Extents["write"] = async (body) => {
        const written = await extents.write(body);
        await onCopied();
        return written;
      };
      return withWrite(extents, write);
    });
    const { leaf, neighbours } = await mostlyDeadExtent(fixture, someBytes(sharingBytes, 1));
    await fixture.sweepAll();
    for (const neighbour of neighbours) await fixture.drop(neighbour);
    const elsewhere = new ContentsFixture(fixture.store, fixture.extents);
    let copies = 0;
    onCopied = async () => {
      copies++;
      await fixture.drop(leaf);
      await elsewhere.sweepAll();
    };
    await fixture.sweepAll();
    assert.equal(copies, 1, "the sweeper has copied the leaf");
    await fixture.assertNothingLeft();
  });

  promise("taken bytes survive every sweep before they are kept", async (fixture) => {
    const bytes = someBytes(100_000, 1);
    const taken = await fixture.contents.take(inParts(bytes, 9_999), NO_DIGESTS);
    await fixture.sweepAll();
    const leaf = await fixture.store.transact((tx) => fixture.contents.keep(tx, taken));
    await fixture.sweepAll();
    taken.release();
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(leaf), bytes);
  });

  promise("taken bytes that were never kept are freed after their release", async (fixture) => {
    const taken = await fixture.contents.take(inParts(someBytes(900_000, 1), 9_999), NO_DIGESTS);
    taken.release();
    taken.release();
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("bytes whose transaction was refused are freed", async (fixture) => {
    const taken = await fixture.contents.take(inParts(someBytes(100_000, 1), 9_999), NO_DIGESTS);
    const refused = fixture.store.transact((tx) => {
      fixture.contents.keep(tx, taken);
      throw new Error("refused");
    });
    await assert.rejects(refused, /refused/);
    taken.release();
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("the bytes of an upload that broke off are freed", async (fixture) => {
    for (const length of [100_000, 2_000_000, 8_000_000]) {
      const md5 = fixture.contents.take(brokenOff(someBytes(length, 1)), {
        md5: true,
        crc64: true,
      });
      await assert.rejects(md5, /hung up/);
    }
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });

  promise("the sweeper does not disturb an upload in progress", async (fixture) => {
    const bytes = someBytes(2_000_000, 1);
    const slow: Body = {
      length: bytes.length,
      async drain(take) {
        for (let at = 0; at < bytes.length; at += 200_000) {
          await take(bytes.subarray(at, at + 200_000));
          const other = await fixture.put(someBytes(60_000, at));
          await fixture.drop(other);
          await fixture.sweepAll();
        }
      },
    };
    const taken = await fixture.contents.take(slow, NO_DIGESTS);
    const leaf = await fixture.store.transact((tx) => fixture.contents.keep(tx, taken));
    taken.release();
    assert.deepEqual(await fixture.read(leaf), bytes);
    await fixture.sweepAll();
    assert.deepEqual(await fixture.read(leaf), bytes);
  });

  promise(
    "a content whose record is lost does not keep the sweeper from others",
    async (fixture) => {
      const lost = await fixture.put(someBytes(100_000, 1));
      const others = [
        await fixture.put(someBytes(700_000, 2)),
        await fixture.put(someBytes(700_000, 3)),
      ];
      await fixture.store.transact((tx) => tx.delete(key(SPACE.content, lost.id)));
      for (const each of [lost, ...others]) await fixture.drop(each);
      for (let round = 0; round < 3; round++) {
        await assert.rejects(fixture.contents.sweep(), { kind: "damaged" });
      }
      assert.ok(fixture.bytesOnDisk() < 700_000, "the space of the others is freed");
    },
  );

  promise("disk use shrinks with the stored data", async (fixture) => {
    const left: [Content, Bytes][] = [];
    const dropped: Content[] = [];
    for (let at = 0; at < 60; at++) {
      const bytes = someBytes(40_000, at);
      const leaf = await fixture.put(bytes);
      if (at % 10 === 0) left.push([leaf, bytes]);
      else dropped.push(leaf);
    }
    for (const leaf of dropped) await fixture.drop(leaf);
    await fixture.sweepAll();
    assert.ok(fixture.bytesOnDisk() <= 2 * left.length * 45_056, `${fixture.bytesOnDisk()} bytes`);
    for (const [leaf, bytes] of left) assert.deepEqual(await fixture.read(leaf), bytes);
    for (const [leaf] of left) await fixture.drop(leaf);
    await fixture.sweepAll();
    await fixture.assertNothingLeft();
  });
}

/** Reads and compares all bytes; runs `meanwhile` after the first of them have arrived. */
async function readSlowly(
  reading: Reading,
  expected: Bytes,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const parts: Bytes[] = [];
  await drainBorrowed(reading, async (part) => {
    parts.push(Buffer.from(part));
    if (parts.length === 1) await meanwhile();
  });
  assert.ok(Buffer.concat(parts).equals(expected), "the bytes have not changed since the open");
}

/** A leaf, and neighbours in the same extent. Once these are dropped, the extent is mostly dead. */
async function mostlyDeadExtent(
  fixture: ContentsFixture,
  bytes: Bytes,
): Promise<{ leaf: Content; neighbours: Content[] }> {
  const others = [11, 12, 13, 14].map((seed) => someBytes(bytes.length, seed));
  const all = others.toSpliced(1, 0, bytes).map((one) => fixture.put(one));
  const [first, leaf, ...rest] = (await Promise.all(all)) as [Content, Content, ...Content[]];
  const neighbours = [first, ...rest];
  assert.equal(fixture.extents.list().length, 1);
  return { leaf, neighbours };
}

/** A list of many parts, and larger leaves that lie between them in the extents. */
async function largeList(
  fixture: ContentsFixture,
  count: number,
): Promise<{ list: Content; bytes: Bytes; neighbours: Content[] }> {
  const all = Array.from({ length: count }, (_, at) => someBytes(at % 3 === 0 ? 17_000 : 700, at));
  const [leaves, neighbours] = await Promise.all([
    Promise.all(all.map((bytes) => fixture.put(bytes))),
    Promise.all(all.slice(0, count / 3).map((_, at) => fixture.put(someBytes(60_000, at)))),
  ]);
  const list = await fixture.compose(leaves.map((leaf) => partOf(leaf)));
  return { list, bytes: Buffer.concat(all), neighbours };
}

function brokenOff(bytes: Bytes): Body {
  return {
    length: bytes.length,
    async drain(take) {
      await take(bytes.subarray(0, bytes.length / 2));
      throw new Error("hung up");
    },
  };
}

function withWrite(extents: Extents, write: Extents["write"]): Extents {
  return {
    write,
    pin: (numbers) => extents.pin(numbers),
    read: (at, from, length) => extents.read(at, from, length),
    get lastExtent() {
      return extents.lastExtent;
    },
    list: () => extents.list(),
    find: (extent) => extents.find(extent),
    reusesSpace: extents.reusesSpace,
    seal: (extent) => extents.seal(extent),
    remove: (extent) => extents.remove(extent),
    trim: () => extents.trim(),
    close: () => extents.close(),
  };
}
