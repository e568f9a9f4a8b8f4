import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_LOCKS_MAX } from "../../base/limits.ts";
import { READ, WRITE } from "../../rules/share-mode.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { getFile } from "./get-file.ts";
import { lockRanges, unlockRanges } from "./lock-ranges.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";

const WRITER = { mode: { access: READ | WRITE, share: ALL } };

function lock(
  files: Files,
  handle: HandleAsked,
  offset: number,
  length: number,
  isExclusive = true,
) {
  const range = { offset: BigInt(offset), length: BigInt(length), isExclusive };
  return lockRanges(files.context, { ...handle, ranges: [range] });
}

function unlock(files: Files, handle: HandleAsked, offset: number, length: number) {
  const ranges = [{ offset: BigInt(offset), length: BigInt(length) }];
  return unlockRanges(files.context, { ...handle, ranges });
}

async function read(files: Files, path: string, from: number, to: number | null) {
  const range = { from, to };
  const { reading } = await getFile(files.context, { ...files.at(path), range, md5: false });
  reading.close();
}

async function opened(): Promise<{ files: Files; one: HandleAsked; two: HandleAsked }> {
  const files = await Files.open();
  await files.create("file", 100);
  const one = await files.open("file", WRITER);
  return { files, one, two: await files.open("file", WRITER) };
}

test("REST reads and writes are refused by an exclusive lock, within its bytes only", async () => {
  const { files, one } = await opened();
  assert.equal(await lock(files, one, 10, 10), "granted");
  const conflict = refused("FileLockConflict");
  await assert.rejects(files.write("file", 19, "x"), conflict);
  await assert.rejects(files.write("file", 5, "123456"), conflict);
  await assert.rejects(read(files, "file", 0, 10), conflict);
  await assert.rejects(read(files, "file", 5, null), conflict);
  await assert.rejects(files.read("file"), conflict);
  await assert.rejects(files.create("file"), conflict);
  await files.write("file", 5, "12345");
  await files.write("file", 20, "x");
  await read(files, "file", 0, 9);
  await read(files, "file", 20, null);
});

test("REST reads pass a shared lock, writes do not", async () => {
  const { files, one } = await opened();
  assert.equal(await lock(files, one, 10, 10, false), "granted");
  await read(files, "file", 0, null);
  await assert.rejects(files.write("file", 10, "x"), refused("FileLockConflict"));
});

test("a lock ends with its unlock, or with its handle", async () => {
  const { files, one, two } = await opened();
  await lock(files, one, 0, 10);
  await lock(files, one, 20, 10);
  assert.equal(await lock(files, two, 0, 1), "blocked");
  assert.equal(await unlock(files, two, 0, 10), false);
  assert.equal(await unlock(files, one, 0, 10), true);
  assert.equal(await lock(files, two, 0, 1), "granted");
  assert.equal(await lock(files, two, 25, 1), "blocked");
  await files.close(one);
  assert.equal(await lock(files, two, 25, 1), "granted");
  await files.close(two);
  assert.equal(await files.recordsOfOpens(), 0);
  await files.write("file", 0, "x");
});

test("several ranges are locked all or none", async () => {
  const { files, one, two } = await opened();
  await lock(files, one, 50, 1);
  const range = (offset: bigint) => ({ offset, length: 1n, isExclusive: true });
  const ranges = [range(0n), range(50n)];
  assert.equal(await lockRanges(files.context, { ...two, ranges }), "blocked");
  assert.equal(await lock(files, one, 0, 1), "granted");
  const same = [range(7n), range(7n)];
  assert.equal(await lockRanges(files.context, { ...two, ranges: same }), "blocked");
});

test("unlocks before one that fails stay done", async () => {
  const { files, one, two } = await opened();
  await lock(files, one, 0, 1);
  await lock(files, one, 2, 1);
  const ranges = [0n, 1n, 2n].map((offset) => ({ offset, length: 1n }));
  assert.equal(await unlockRanges(files.context, { ...one, ranges }), false);
  assert.equal(await lock(files, two, 0, 1), "granted");
  assert.equal(await lock(files, two, 2, 1), "blocked");
});

test("the number of locks is limited, and directories cannot be locked", async () => {
  const { files, one } = await opened();
  const ranges = Array.from({ length: FILE_LOCKS_MAX }, (_, at) => ({
    offset: BigInt(at),
    length: 1n,
    isExclusive: false,
  }));
  assert.equal(await lockRanges(files.context, { ...one, ranges }), "granted");
  assert.equal(await lock(files, one, 5_000, 1), "too-many");
  const root = await files.open("");
  await assert.rejects(lock(files, root, 0, 1), refused("ResourceTypeMismatch"));
});
