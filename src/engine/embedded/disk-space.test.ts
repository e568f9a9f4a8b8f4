import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { CONTRACT_EXTENT_BYTES, fill } from "../../store/extents.contract.ts";
import { DiskSpace, partOfVolume } from "./disk-space.ts";
import { EmbeddedExtents } from "./extents.ts";
import { openEmbeddedStore } from "./store.ts";

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-space-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function reserveBytes(folder: string): Promise<number> {
  const { blocks } = await stat(join(folder, "reserve"));
  return blocks * 512;
}

test("the reserve has room for twice the WAL, and is restored after it was given up", async (t) => {
  const folder = await newFolder(t);
  const space = await DiskSpace.open(folder);
  const told: boolean[] = [];
  space.onSpace((isShort) => told.push(isShort));
  await space.reserveForWal(2 * MIB);
  assert.ok((await reserveBytes(folder)) >= 8 * MIB);
  assert.equal(space.mayGrow, true);

  assert.equal(await space.giveUp(), true);
  assert.equal(space.mayGrow, false);
  assert.ok((await reserveBytes(folder)) < 5 * MIB);
  assert.equal(await space.giveUp(), true);
  // The rest is for the next start.
  assert.equal(await space.giveUp(), false);

  await space.look();
  assert.equal(space.mayGrow, true);
  assert.ok((await reserveBytes(folder)) >= 8 * MIB);
  assert.deepEqual(told, [true, false]);
});

test("while space is short the file of a full extent is not reused for the next one", async (t) => {
  const [folder, extentsFolder] = [await newFolder(t), await newFolder(t)];
  const space = await DiskSpace.open(folder);
  const setup = { endOfUse: null, failStop: assert.fail, extentBytesMax: CONTRACT_EXTENT_BYTES };
  const extents = await EmbeddedExtents.open({
    folder: extentsFolder,
    machine: machineFor(t),
    space,
    ...setup,
  });
  t.after(() => extents.close());
  await extents.remove(await fill(extents));
  const spares = await readdir(extentsFolder);
  const second = await fill(extents);
  assert.equal(spares.length, 1);
  space.noteFull();
  await extents.remove(second);
  assert.deepEqual(await readdir(extentsFolder), []);
});

test("a deleted reserve file is made again", async (t) => {
  const folder = await newFolder(t);
  const space = await DiskSpace.open(folder);
  await space.reserveForWal(2 * MIB);
  await rm(join(folder, "reserve"));
  await space.look();
  assert.equal(space.mayGrow, true);
  assert.ok((await reserveBytes(folder)) >= 8 * MIB);
});

test("while the reserve is in use the store takes only writes that free space or add little", async (t) => {
  const folder = await newFolder(t);
  const space = await DiskSpace.open(folder);
  const store = await openEmbeddedStore(folder, systemClock, assert.fail, MIB, { space });
  const at = (id: number) => key(SPACE.blob, id);
  const write = (id: number, bytes: number) =>
    store.transact((tx) => tx.set(at(id), Buffer.alloc(bytes)));
  await write(1, 4 * KIB);
  await write(2, 4 * KIB);

  let isFull = true;
  // The disk of this test has space, so the check that would find it is mocked.
  t.mock.method(space, "hasSpaceAgain", async () => !isFull);
  await space.giveUp();
  await assert.rejects(write(3, KIB), { kind: "full" });
  await assert.rejects(write(1, 8 * KIB), { kind: "full" });
  await write(1, 4 * KIB + 100);
  await write(2, KIB);
  await store.transact((tx) => {
    tx.delete(at(1));
    tx.set(at(4), Buffer.alloc(2 * KIB));
  });
  await store.transact((tx) => tx.delete(at(2)));
  const found = await store.read((view) => [1, 2, 3, 4].map((id) => view.get(at(id))?.length));
  assert.deepEqual(found, [undefined, undefined, undefined, 2 * KIB]);

  isFull = false;
  await space.look();
  await write(3, KIB);
  await store.close();
});

test("small volumes get small parts; a volume of unknown size counts as large", () => {
  const part = (volume: number) => partOfVolume(volume, 1 / 32, 4 * MIB, 256 * MIB);
  assert.deepEqual(
    [64, 160, 100_000].map((mib) => part(mib * MIB) / MIB),
    [4, 5, 256],
  );
  assert.equal(part(0), 256 * MIB);
});
