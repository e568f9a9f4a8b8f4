import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import type { Histogram } from "../../base/histogram.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { Machine } from "../../machine/machine.ts";
import { inParts } from "../../store/bodies.fixture.ts";
import { DiskSpace } from "./disk-space.ts";
import { EngineFigures } from "./engine-figures.ts";
import { EmbeddedExtents } from "./extents.ts";
import { openEmbeddedStore } from "./store.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-figures-"));
after(() => rm(scratch, { recursive: true }));

const NOW_MS = 1_700_000_000_000;

async function storeOf(t: TestContext, name: string, walBytes: number) {
  const folder = join(scratch, name);
  await mkdir(folder);
  const figures = new EngineFigures();
  const clock = new ManualClock(NOW_MS);
  const store = await openEmbeddedStore(folder, clock, assert.fail, walBytes, { figures });
  t.after(() => store.close());
  return { store, figures };
}

test("a group commit counts once, with each of its transactions", async (t) => {
  const { store, figures } = await storeOf(t, "groups", MIB);
  const put = (name: number) =>
    store.transact((tx) => tx.set(key(SPACE.entity, name), Buffer.alloc(100)));
  await put(1);
  assert.deepEqual([countOf(figures.groupSizes), figures.groupSizes.sum], [1, 1]);
  await Promise.all([2, 3, 4].map(put));
  assert.deepEqual([countOf(figures.groupSizes), figures.groupSizes.sum], [2, 4]);
  assert.equal(countOf(figures.walWrites), 2);
  assert.ok(figures.walBytesWritten >= 400);
  const { walBytes, walCapacity, memtableRecords } = store.usage;
  assert.equal(memtableRecords, 4);
  assert.ok(walBytes > 0 && walBytes <= walCapacity);
});

test("a refused transaction and a read count in no group", async (t) => {
  const { store, figures } = await storeOf(t, "refused", MIB);
  await assert.rejects(
    store.transact(() => {
      throw new Error("no");
    }),
  );
  await store.read((view) => view.get(key(SPACE.entity, 1)));
  assert.equal(countOf(figures.groupSizes), 0);
});

test("a checkpoint counts once it has ended, with the time of its end", async (t) => {
  const { store, figures } = await storeOf(t, "checkpoint", 64 * KIB);
  assert.equal(figures.checkpointedMs, null);
  for (let at = 0; countOf(figures.checkpoints) === 0; at++) {
    await store.transact((tx) => tx.set(key(SPACE.entity, at), Buffer.alloc(8 * KIB)));
  }
  assert.equal(figures.checkpointedMs, NOW_MS);
});

test("a body in an extent counts with its bytes and its sync", async (t) => {
  const figures = new EngineFigures();
  const folder = join(scratch, "extents");
  await mkdir(folder);
  const machine = new Machine();
  t.after(() => machine.close());
  const setup = { folder, endOfUse: null, failStop: assert.fail, figures, machine };
  const extents = await EmbeddedExtents.open(setup);
  t.after(() => extents.close());
  const body: Bytes = Buffer.alloc(3 * MIB, 7);
  (await extents.write(inParts(body, MIB))).release();
  assert.ok(figures.extentBytesWritten >= body.length);
  assert.ok(countOf(figures.extentSyncs) >= 1);
});

test("the space of a folder is measured without changing it", async () => {
  const folder = join(scratch, "space");
  await mkdir(folder);
  const store = await openEmbeddedStore(folder, new ManualClock(NOW_MS), assert.fail);
  await store.close();
  const space = await DiskSpace.open(folder);
  const figures = await space.measure();
  assert.ok(figures.databaseBytes > 0 && figures.databaseFreeBytes < figures.databaseBytes);
  assert.ok(figures.freeBytes > 0 && figures.freeBytes <= figures.volumeBytes);
  assert.equal((await space.measure()).reserveBytes, figures.reserveBytes);
});

function countOf({ counts }: Histogram): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
