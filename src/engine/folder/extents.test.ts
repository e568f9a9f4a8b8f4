import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { KIB } from "../../base/limits.ts";
import { gather, inParts, someBytes } from "../../store/bodies.fixture.ts";
import { extentsContract } from "../../store/extents.contract.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import { FolderExtents } from "./extents.ts";

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-shared-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

extentsContract("shared folder", async (t) => {
  const folder = await newFolder(t);
  return FolderExtents.open({ folder, frontEnd: 1, extentBytesMax: 900 * KIB });
});

test("a front end reads what another one wrote, and does not sweep it", async (t) => {
  const folder = await newFolder(t);
  const one = await FolderExtents.open({ folder, frontEnd: 1 });
  const other = await FolderExtents.open({ folder, frontEnd: 2 });
  const bytes = someBytes(200_000, 1);
  const { addresses, release } = await one.write(inParts(bytes, 10_000));
  release();
  const [at] = addresses as [Address];
  other.pin([at.extent]).release();
  assert.deepEqual(await gather(other.read(at, 70_000, 100_000)), bytes.subarray(70_000, 170_000));
  assert.deepEqual(other.list(), []);
});

test("an upload that broke off leaves no file", async (t) => {
  const folder = await newFolder(t);
  const extents = await FolderExtents.open({ folder, frontEnd: 1 });
  const body = {
    length: 200_000,
    async drain(take: (part: Buffer) => void | Promise<void>) {
      await take(someBytes(100_000, 1));
      throw new Error("gone");
    },
  };
  await assert.rejects(extents.write(body), /gone/);
  assert.deepEqual(await readdir(join(folder, "extents", "00001")), []);
});

test("a changed byte is noticed, and a missing file", async (t) => {
  const folder = await newFolder(t);
  const extents = await FolderExtents.open({ folder, frontEnd: 1 });
  const { addresses } = await extents.write(inParts(someBytes(1_000, 1), 1_000));
  const [at] = addresses as [Address];
  const path = join(folder, "extents", "00001", "00000001.extent");
  const isDamage = (error: unknown) => error instanceof StoreError && error.kind === "damaged";
  await writeFile(path, Buffer.alloc(1_004));
  await assert.rejects(gather(extents.read(at, 0, 1_000)), isDamage);
  await rm(path);
  await assert.rejects(gather(extents.read(at, 0, 1_000)), isDamage);
});

test("what was removed while the records could not be reached is discarded later", async (t) => {
  let isOut = true;
  const unread = async () => {
    if (isOut) throw new StoreError("unreachable", "the records cannot be reached");
  };
  const folder = await newFolder(t);
  const extents = await FolderExtents.open({ folder, frontEnd: 1, unread });
  t.after(() => extents.close());
  const written = await extents.write(inParts(someBytes(1_000, 1), 1_000));
  written.release();
  const [{ extent }] = written.addresses as [Address];
  const files = async () => (await readdir(join(folder, "extents", "00001"))).length;
  await extents.remove(extent);
  for (let round = 0; round < 2; round++) {
    await new Promise(setImmediate);
    await extents.trim();
  }
  assert.equal(await files(), 1);
  isOut = false;
  while ((await files()) > 0) await extents.trim();
});
