import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { ExtentCollection } from "../content/collect-extents.ts";
import { ContentsFixture, NO_DIGESTS, partOf } from "../content/contents.fixture.ts";
import { FolderExtents } from "../engine/folder/extents.ts";
import { gather, inParts, someBytes } from "../store/bodies.fixture.ts";
import type { Content } from "../store/content.ts";
import { BEAT_MS, LEASE_MS } from "./front-end.ts";
import { FrontEnds, type TestFrontEnd } from "./front-ends.fixture.ts";

/** More than a body up to which bytes are in records. */
const LARGE = 20_000;
const PAGE = 512;

interface SharedContents extends TestFrontEnd {
  readonly own: ContentsFixture;
  readonly extents: FolderExtents;
}

/** Contents of several front ends, with bytes in one folder. */
class Bed {
  readonly ends = new FrontEnds();
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(t: TestContext): Promise<Bed> {
    const folder = await mkdtemp(join(tmpdir(), "lazuli-shared-"));
    t.after(() => rm(folder, { recursive: true }));
    return new Bed(folder);
  }

  async add(): Promise<SharedContents> {
    const added = await this.ends.add();
    const { frontEnd, store, leaderStore } = added;
    const extents = await FolderExtents.open({
      folder: this.folder,
      frontEnd: frontEnd.number,
      unread: () => frontEnd.unread(),
      sweeps: (maker) => frontEnd.isSweeper && frontEnd.ended.includes(maker),
    });
    const own = new ContentsFixture(store, extents, { others: frontEnd, sweepStore: leaderStore });
    return { ...added, own, extents };
  }

  /** Lets all front ends beat and sweep, several times. */
  async sweep(...all: SharedContents[]): Promise<void> {
    for (let round = 0; round < 4; round++) {
      await this.ends.pass(BEAT_MS, all);
      for (const { own } of all) await own.sweepAll();
    }
    // Files are removed in the background.
    for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  }

  async files(): Promise<number> {
    const names = await readdir(join(this.folder, "extents"), { recursive: true });
    return names.filter((name) => name.endsWith(".extent")).length;
  }
}

/** Waits for files to be removed: that is the system's business. */
async function settled(count: () => Promise<number>, expected: number): Promise<void> {
  for (let round = 0; round < 10_000 && (await count()) !== expected; round++) {
    await new Promise(setImmediate);
  }
  assert.equal(await count(), expected);
}

test("a reading ends with the bytes that it began with, whatever is deleted elsewhere", async (t) => {
  const bed = await Bed.open(t);
  const [leader, maker, reader] = [await bed.add(), await bed.add(), await bed.add()];
  const bytes = someBytes(LARGE, 1);
  const content = await maker.own.put(bytes);
  const reading = await reader.own.open(content);
  await leader.own.drop(content);
  await bed.sweep(leader, maker, reader);
  assert.equal(await bed.files(), 1);
  assert.deepEqual(await gather(reading), bytes);
  reading.close();
  await bed.sweep(leader, maker, reader);
  await settled(() => bed.files(), 0);
  assert.deepEqual(await leader.own.records(), []);
});

test("so does a reading of a long list, which is looked up step by step", async (t) => {
  const bed = await Bed.open(t);
  const [leader, reader] = [await bed.add(), await bed.add()];
  const leaves: Content[] = [];
  const parts: Bytes[] = [];
  for (let at = 0; at < 300; at++) {
    parts.push(someBytes(100, at));
    leaves.push(await leader.own.put(parts[at] as Bytes));
  }
  const list = await leader.own.compose(leaves.map((leaf) => partOf(leaf)));
  const reading = await reader.own.open(list);
  await leader.own.drop(list);
  await bed.sweep(leader, reader);
  assert.deepEqual(await gather(reading), Buffer.concat(parts));
  reading.close();
  await bed.sweep(leader, reader);
  assert.deepEqual(await leader.own.records(), []);
});

test("so does a frozen reading of a map, which is written to and dropped elsewhere", async (t) => {
  const bed = await Bed.open(t);
  const [leader, reader] = [await bed.add(), await bed.add()];
  const { contents } = leader.own;
  const page = (seed: number) => someBytes(PAGE, seed);
  const put = async (map: Content, at: number, bytes: Bytes) => {
    const taken = await contents.take(inParts(bytes, 4_096), NO_DIGESTS);
    return leader.store.transact((tx) => contents.maps.write(tx, map, at, taken));
  };
  let map = await leader.store.transact((tx) => contents.maps.create(tx, 1_400 * PAGE));
  for (let at = 0; at < 700; at++) map = await put(map, 2 * at * PAGE, page(at));
  const expected = Buffer.concat(
    Array.from({ length: 1_400 }, (_, at) => (at % 2 === 0 ? page(at / 2) : Buffer.alloc(PAGE))),
  );
  const frozen = await reader.store.transact((tx) =>
    reader.own.contents.maps.openFrozen(tx, map, 0, map.length),
  );
  map = await put(frozen.map, 1_398 * PAGE, page(9_999));
  await bed.sweep(leader, reader);
  await leader.own.drop(map);
  await bed.sweep(leader, reader);
  assert.ok((await gather(frozen.reading)).equals(expected));
  frozen.reading.close();
  await bed.sweep(leader, reader);
  assert.deepEqual(await leader.own.records(), []);
});

test("a draft of another front end is not swept while it is written", async (t) => {
  const bed = await Bed.open(t);
  const [leader, writer] = [await bed.add(), await bed.add()];
  const leaf = await writer.own.put(someBytes(10, 1));
  const parts = Array.from({ length: 2_000 }, () => partOf(leaf));
  const draft = await writer.own.contents.draft(parts, () => true);
  await bed.sweep(leader, writer);
  const list = await writer.store.transact((tx) => {
    writer.own.contents.drop(tx, leaf);
    return draft?.adopt(tx) ?? assert.fail("there is no draft");
  });
  draft?.release();
  assert.equal((await leader.own.read(list)).length, 20_000);
  await leader.own.drop(list);
  await bed.sweep(leader, writer);
  assert.deepEqual(await leader.own.records(), []);
});

test("only the leader frees records; the others free their files when they hear of it", async (t) => {
  const bed = await Bed.open(t);
  const [leader, other] = [await bed.add(), await bed.add()];
  const list = await other.own.compose([partOf(await other.own.put(someBytes(LARGE, 1)))]);
  await other.own.drop(list);
  const map = await other.store.transact((tx) => other.own.contents.maps.create(tx, 5));
  await other.own.drop(map);
  for (let round = 0; round < 3; round++) {
    await bed.ends.pass(BEAT_MS);
    await other.own.sweepAll();
  }
  const spaces = (await other.own.records()).map((entry) => entry.key[0]);
  assert.ok(spaces.includes(SPACE.doomedRangeLayer), `${spaces}`);
  await bed.sweep(leader, other);
  assert.deepEqual(await other.own.records(), []);
  await settled(() => bed.files(), 0);
});

test("what a killed front end has stored is freed, and what is in use stays", async (t) => {
  const bed = await Bed.open(t);
  const [leader, killed] = [await bed.add(), await bed.add()];
  const used = someBytes(LARGE, 1);
  const content = await killed.own.put(used);
  // Stored, but no record names it: the front end dies before.
  await killed.own.contents.take(inParts(someBytes(LARGE, 2), 4_096), NO_DIGESTS);
  assert.equal(await bed.files(), 2);
  await bed.ends.pass(3 * LEASE_MS, [leader]);
  const emptied: number[] = [];
  const collection = new ExtentCollection({
    store: leader.leaderStore,
    extents: leader.extents,
    others: leader.frontEnd,
    onEmpty: async (maker) => void emptied.push(maker),
  });
  const collect = async () => {
    for (let round = 0; round < 4; round++) {
      await bed.ends.pass(BEAT_MS, [leader]);
      await collection.round(leader.frontEnd.ended);
    }
  };
  await collect();
  assert.equal(await bed.files(), 1);
  assert.deepEqual(emptied, []);
  assert.deepEqual(await leader.own.read(content), used);
  await leader.own.drop(content);
  await bed.sweep(leader);
  await settled(() => bed.files(), 0);
});
