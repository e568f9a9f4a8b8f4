import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MIB } from "../../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { Wal } from "./wal.ts";
import { findWalFiles, WAL_FILE_NAMES } from "./wal-file.ts";

/** Opens the WAL files of a new folder; the end of the test closes them. */
async function newWalFile(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-wal-"));
  const files = await (await findWalFiles(folder)).open();
  t.after(async () => {
    for (const file of files) await file.close();
    await rm(folder, { recursive: true });
  });
  return { files, file: files[0], path: join(folder, WAL_FILE_NAMES[0]) };
}

type Done = (error: Error | null, written?: number) => void;

/**
 * Makes a disk that takes at most `pagesMax` pages in one call, and nothing from `end` on. Like a
 * real one it reports no error for a part, only for a call of which it takes nothing. Returns what
 * removes the limits.
 */
function limitDisk(t: TestContext, pagesMax: number, end = Number.POSITIVE_INFINITY): () => void {
  const { write } = fs;
  const writeSome = (fd: number, bytes: Buffer, position: number, done: Done) => {
    const room = Math.min(bytes.length, pagesMax * PAGE_BYTES, end - position);
    if (room > 0) write(fd, bytes, 0, room, position, done);
    else done(Object.assign(new Error("no space"), { code: "ENOSPC" }));
  };
  const limited = {
    write: (fd: number, bytes: Buffer, _: 0, _length: number, position: number, done: Done) =>
      writeSome(fd, bytes, position, done),
    writev: (fd: number, [first]: [Buffer], position: number, done: Done) =>
      writeSome(fd, first, position, done),
  };
  t.mock.method(fs, "write", limited.write as never);
  t.mock.method(fs, "writev", limited.writev as never);
  syncBuiltinESMExports();
  const remove = () => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  };
  t.after(remove);
  return remove;
}

test("a write of which the system takes a part at a time is completed", async (t) => {
  const { file, path } = await newWalFile(t);
  const bytes = alignedBytes(5 * PAGE_BYTES).fill("x");
  limitDisk(t, 2);
  await file.write(bytes, PAGE_BYTES);
  const stored = await readFile(path);
  assert.ok(stored.subarray(PAGE_BYTES, 6 * PAGE_BYTES).equals(bytes));
});

test("the capacity foretold for a group is what the files have once they have grown for it", async (t) => {
  const { files } = await newWalFile(t);
  const wal = new Wal(files, { mark: 1, seed: 2 }, MIB, [1, 2]);
  for (const bytes of [100, MIB, 3 * MIB - 5_000, 3 * MIB]) {
    const foretold = wal.capacityFor(bytes);
    await wal.growFor(bytes);
    assert.equal(wal.capacity, foretold);
    assert.ok(wal.fits(bytes));
  }
});

test("a file that only partly fits on the disk reports a full disk, and grows once there is space", async (t) => {
  const { file, path } = await newWalFile(t);
  const before = file.capacity;
  const removeLimits = limitDisk(t, Number.POSITIVE_INFINITY, before + 3 * PAGE_BYTES);
  await assert.rejects(file.growTo(before + MIB), { code: "ENOSPC" });
  assert.equal(file.capacity, before);
  removeLimits();
  await file.growTo(before + MIB);
  assert.equal(file.capacity, before + MIB);
  assert.equal((await readFile(path)).length, before + MIB);
});
