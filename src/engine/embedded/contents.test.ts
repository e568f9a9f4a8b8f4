import assert from "node:assert/strict";
import { mkdir, mkdtemp, open as openFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ManualClock } from "../../base/clock.ts";
import { contentUsesContract, growingUsesContract } from "../../content/content-uses.contract.ts";
import { findEndOfUse } from "../../content/content-uses.ts";
import { ContentsFixture, NO_DIGESTS } from "../../content/contents.fixture.ts";
import { Machine } from "../../machine/machine.ts";
import { inParts, someBytes } from "../../store/bodies.fixture.ts";
import type { Content } from "../../store/content.ts";
import {
  CONTENTS_EXTENT_BYTES,
  contentsContract,
  type OpenContents,
} from "../../store/contents.contract.ts";
import { contentsModelContract } from "../../store/contents-model.contract.ts";
import { contentsRacesContract } from "../../store/contents-races.contract.ts";
import type { Extents } from "../../store/extents.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import { listDraftContract } from "../../store/list-draft.contract.ts";
import { sealedContentsContract } from "../../store/sealed-contents.contract.ts";
import type { StoreError } from "../../store/store.ts";
import { EmbeddedExtents } from "./extents.ts";
import { openEmbeddedStore } from "./store.ts";

const START_MS = 1_700_000_000_000;

const open: OpenContents = async (t, wrap) => {
  const fixture = await openIn(await newFolder(t), wrap);
  t.after(() => close(fixture));
  return fixture;
};

contentsContract("embedded", open);
contentUsesContract("embedded", open);
growingUsesContract("embedded", open);
contentsRacesContract("embedded", open);
listDraftContract("embedded", open);
sealedContentsContract("embedded", open);
contentsModelContract("embedded", 1, open);

const openRerunning: OpenContents = async (t, wrap) => {
  const { store, extents } = await open(t, wrap);
  return new ContentsFixture(new ForgettingStore(store), extents);
};
contentsContract("embedded, where every body runs twice,", openRerunning);
contentsModelContract("embedded, where every body runs twice,", 1, openRerunning);

test("after a crash between bytes and commit only those bytes are overwritten", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(folder);
  const used = someBytes(100_000, 1);
  const leaf = await before.put(used);
  // Never named and never released, as if the process had crashed.
  await before.contents.take(inParts(someBytes(100_000, 2), 9_999), NO_DIGESTS);
  await close(before);

  const after = await openIn(folder);
  t.after(() => close(after));
  assert.ok(after.bytesOnDisk() < 2 * 100_000);
  const later = await after.put(someBytes(100_000, 3));
  await after.sweepAll();
  assert.deepEqual(await after.read(leaf), used);
  assert.deepEqual(await after.read(later), someBytes(100_000, 3));
  assert.ok(after.bytesOnDisk() < 3 * 100_000);
});

test("after a restart the content replaced last is not overwritten", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(folder);
  const first = await before.put(someBytes(30_000, 1));
  const second = await before.put(someBytes(30_000, 2));
  const replaced = await before.replace(first, someBytes(30_000, 3));
  await close(before);

  const after = await openIn(folder);
  t.after(() => close(after));
  const later = await after.put(someBytes(30_000, 4));
  assert.deepEqual(await after.read(replaced), someBytes(30_000, 3));
  assert.deepEqual(await after.read(second), someBytes(30_000, 2));
  assert.deepEqual(await after.read(later), someBytes(30_000, 4));
});

test("after a crash unreferenced extents are found and removed", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(folder);
  await before.contents.take(inParts(someBytes(2_000_000, 1), 9_999), NO_DIGESTS);
  const used = await before.put(someBytes(30_000, 2));
  await before.contents.take(inParts(someBytes(2_000_000, 3), 9_999), NO_DIGESTS);
  await close(before);

  const after = await openIn(folder);
  t.after(() => close(after));
  await after.sweepAll();
  assert.deepEqual(await after.read(used), someBytes(30_000, 2));
  assert.ok(after.bytesOnDisk() < 2 * 40_000, `${after.bytesOnDisk()} bytes`);
});

test("garbage outlives a restart", async (t) => {
  const folder = await newFolder(t);
  const before = await openIn(folder);
  // In several pieces, so that the drop itself does not free it.
  const leaf = await before.put(someBytes(2_000_000, 1));
  await before.drop(leaf);
  await close(before);

  const after = await openIn(folder);
  t.after(() => close(after));
  await after.sweepAll();
  await after.assertNothingLeft();
  assert.deepEqual(await readdir(join(folder, "extents")), []);
});

test("freed space is reused while bytes arrive between sweeps, and returned to the disk afterwards", async (t) => {
  const folder = await newFolder(t);
  const fixture = await openIn(folder);
  t.after(() => close(fixture));
  const seen = new Set<bigint>();
  for (let round = 0; round < 10; round++) {
    // Somewhat less than an extent, so that every round ends one and begins another.
    const leaves = await putMany(fixture, (0.9 * CONTENTS_EXTENT_BYTES) / 50_000);
    for (const leaf of leaves) await fixture.drop(leaf);
    await fixture.contents.sweep();
    for (const birth of await birthsIn(join(folder, "extents"))) seen.add(birth);
  }
  assert.ok(seen.size <= 3, `${seen.size} files`);
  await fixture.sweepAll();
  assert.deepEqual(await readdir(join(folder, "extents")), []);
});

test("damaged bytes are detected, and do not stop the sweeper", async (t) => {
  const folder = await newFolder(t);
  const fixture = await openIn(folder);
  t.after(() => close(fixture));
  const damaged = await fixture.put(someBytes(30_000, 1));
  const sound = await fixture.put(someBytes(30_000, 2));
  const garbage = await fixture.put(someBytes(130_000, 3));
  const [file] = await readdir(join(folder, "extents"));
  await overwrite(join(folder, "extents", file as string), 12_345);
  await assert.rejects(fixture.read(damaged), { kind: "damaged" });
  assert.deepEqual(await fixture.read(sound), someBytes(30_000, 2));

  await fixture.drop(garbage);
  await assert.rejects(fixture.sweepAll(), { kind: "damaged" });
  const other = await fixture.put(someBytes(100_000, 4));
  await fixture.drop(other);
  await fixture.sweepAll();
  assert.deepEqual(await fixture.read(sound), someBytes(30_000, 2));
  await assert.rejects(fixture.read(damaged), { kind: "damaged" });
});

async function putMany(fixture: ContentsFixture, count: number): Promise<Content[]> {
  const leaves: Content[] = [];
  while (leaves.length < count) leaves.push(await fixture.put(someBytes(50_000, leaves.length)));
  return leaves;
}

/** The birth times of the files in a folder; inode numbers are reused. */
async function birthsIn(folder: string): Promise<bigint[]> {
  const names = await readdir(folder);
  const stats = names.map((name) => stat(join(folder, name), { bigint: true }));
  return (await Promise.all(stats)).map(({ birthtimeNs }) => birthtimeNs);
}

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-contents-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "store"));
  await mkdir(join(folder, "extents"));
  return folder;
}

async function openIn(
  folder: string,
  wrap: (extents: Extents) => Extents = (extents) => extents,
): Promise<ContentsFixture> {
  const failStop = (error: StoreError) => assert.fail(error);
  const store = await openEmbeddedStore(join(folder, "store"), new ManualClock(START_MS), failStop);
  const extents = await EmbeddedExtents.open({
    machine: new Machine(),
    folder: join(folder, "extents"),
    endOfUse: await findEndOfUse(store),
    failStop,
    extentBytesMax: CONTENTS_EXTENT_BYTES,
  });
  return new ContentsFixture(store, wrap(extents));
}

async function close(fixture: ContentsFixture): Promise<void> {
  await fixture.store.close();
  await fixture.extents.close();
}

async function overwrite(path: string, position: number): Promise<void> {
  const file = await openFile(path, "r+");
  await file.write("damage", position);
  await file.close();
}
