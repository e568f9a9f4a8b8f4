import assert from "node:assert/strict";
import { type FileHandle, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type BorrowedBuffer, borrowWhole, lengthOf } from "../../base/borrowed-buffer.ts";
import { wholeBody } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { directIoFlag } from "../../machine/direct-io.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { gather, someBytes } from "../../store/bodies.fixture.ts";
import type { Address } from "../../store/extents.ts";
import { DiskPace } from "./disk-pace.ts";
import { EmbeddedExtents } from "./extents.ts";
import { fileHandles } from "./file-handles.fixture.ts";

const CHUNK_BYTES = 65_532;
const PIECE_BYTES = 8 * MIB;
const CASES = [
  { pace: "fast", length: 2 * MIB, later: "by direct I/O again" },
  { pace: "fast", length: 2 * MIB - 200_000, later: "through the page cache" },
  { pace: "slow", length: 2 * MIB, later: "through the page cache" },
] as const;

for (const { pace, length, later } of CASES) {
  test(`${length} bytes of a ${pace} disk are first read by direct I/O, then ${later}`, async (t) => {
    const { extents, at, isDirect } = await openWithPiece(t, pace);
    if (!isDirect) return t.skip("this file system has no direct I/O");
    const handles = await watchReads(t);
    const ways: Set<FileHandle>[] = [];
    for (let reading = 0; reading < 3; reading++) {
      await gather(extents.read(at, 100_000, length));
      ways.push(new Set(handles.splice(0)));
    }
    const [first, ...others] = ways;
    for (const other of others) {
      assert.equal(other.size, 1);
      assert.equal(
        [...other].every((handle) => first?.has(handle)),
        later === "by direct I/O again",
      );
    }
  });
}

test("the more is borrowed in all, the less one borrower gets at a time", async (t) => {
  const { extents, at } = await openWithPiece(t, "fast");
  const buffers: BorrowedBuffer[] = [];
  const sizes = new Set<number>();
  while (buffers.length < 300) {
    const borrowed = (await extents.read(at, 0, at.length).borrow(2 * MIB)) as BorrowedBuffer;
    buffers.push(borrowed);
    sizes.add(lengthOf(borrowed.parts) / CHUNK_BYTES);
  }
  assert.deepEqual([...sizes], [32, 17, 8]);
  for (const borrowed of buffers) borrowed.release();
  const borrowed = await borrowWhole(extents.read(at, 0, at.length));
  assert.equal(lengthOf(borrowed.parts), at.length);
  borrowed.release();
});

test("what readers of one server borrow takes nothing from those of another", async (t) => {
  const [one, other] = [await openWithPiece(t, "fast"), await openWithPiece(t, "fast")];
  const borrow = async ({ extents, at }: typeof one) =>
    (await extents.read(at, 0, at.length).borrow(2 * MIB)) as BorrowedBuffer;
  const buffers: BorrowedBuffer[] = [];
  while (buffers.length < 100) buffers.push(await borrow(one));
  const others = await borrow(other);
  assert.equal(lengthOf(others.parts) / CHUNK_BYTES, 32);
  for (const borrowed of [...buffers, others]) borrowed.release();
});

async function openWithPiece(
  t: TestContext,
  pace: "fast" | "slow",
): Promise<{ extents: EmbeddedExtents; at: Address; isDirect: boolean }> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-reading-"));
  t.after(() => rm(folder, { recursive: true }));
  const seen = new DiskPace();
  if (pace === "fast") seen.saw(MIB, 0.5);
  else t.mock.method(seen, "saw", () => {});
  const extents = await EmbeddedExtents.open({
    machine: machineFor(t),
    folder,
    endOfUse: null,
    failStop: assert.ifError,
    extentBytesMax: 4 * PIECE_BYTES,
    pace: seen,
  });
  t.after(() => extents.close());
  const written = await extents.write(wholeBody(someBytes(PIECE_BYTES - MIB, 1)));
  written.release();
  const isDirect = (await directIoFlag(folder)) !== 0;
  return { extents, at: written.addresses[0] as Address, isDirect };
}

/** Collects the handle of every read from now on. */
async function watchReads(t: TestContext): Promise<FileHandle[]> {
  const files = await fileHandles();
  const read = files.read as (...args: unknown[]) => unknown;
  const readers: FileHandle[] = [];
  t.mock.method(files, "read", function (this: FileHandle, ...args: unknown[]) {
    readers.push(this);
    return read.apply(this, args);
  });
  return readers;
}
