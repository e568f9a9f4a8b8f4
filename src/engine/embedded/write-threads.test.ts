import assert from "node:assert/strict";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { alignedBytes } from "../../base/aligned-bytes.ts";
import { Crc64, crc64 } from "../../base/crc64.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { bytesOnDisk, checksumOf, chunkBytesOf } from "./extent-chunks.ts";
import { type Batch, writeThreads } from "./write-threads.ts";

const EXTENT = 7;

test("batches lie one behind the other, each with its checksum, and each has its remainder", async (t) => {
  const file = await newFile(t);
  const lengths = [1, 50_000, 4092, 4093, 65_536];
  const batches = lengths.map((length) => batchOf(someBytes(length, length)));
  const { fd } = file;
  const remainders = await writeThreads.write({ fd, extent: EXTENT, position: 4096, batches });
  let position = 4096;
  for (const [at, { length }] of batches.entries()) {
    const bytes = someBytes(length, length);
    const crc = new Crc64();
    crc.append(remainders[at] as bigint, length);
    assert.deepEqual(crc.digest(), crc64(bytes));
    const pages = alignedBytes(bytesOnDisk(length));
    await file.read(pages, 0, pages.length, position);
    const chunk = pages.subarray(0, length);
    assert.deepEqual(Buffer.from(chunk), bytes);
    assert.equal(pages.readUInt32LE(length), checksumOf(chunk, EXTENT));
    assert.ok(pages.subarray(length + 4).every((byte) => byte === 0));
    position += pages.length;
  }
});

test("batches that are sealed are written as they are, next to others or alone", async (t) => {
  const file = await newFile(t);
  const { fd } = file;
  const sealed = { ...batchOf(someBytes(5_000, 1)), crc64: false };
  for (const [position, batches] of [
    [0, [sealed]],
    [8192, [batchOf(someBytes(3_000, 2)), sealed]],
  ] as const) {
    const remainders = await writeThreads.write({ fd, extent: EXTENT, position, batches });
    assert.equal(remainders.at(-1), 0n);
  }
  const pages = alignedBytes(5 * 4096);
  await file.read(pages, 0, pages.length, 0);
  for (const position of [0, 8192 + 4096]) {
    const found = pages.subarray(position, position + 8192);
    assert.deepEqual(Buffer.from(found), Buffer.from(sealed.slab.subarray(0, 8192)));
  }
});

test("what no file takes is told, whoever writes it", async () => {
  for (const crc64 of [true, false]) {
    const batches = [{ ...batchOf(someBytes(5_000, 1)), crc64 }];
    const asked = { fd: 1_000_000, extent: EXTENT, position: 0, batches };
    await assert.rejects(writeThreads.write(asked), { code: "EBADF" });
  }
});

test("many are answered, each with what came of it", async (t) => {
  const { fd } = await newFile(t);
  const answers = Array.from({ length: 20 }, (_, at) => {
    const asked = { extent: EXTENT, position: at * 8192, batches: [batchOf(someBytes(5_000, at))] };
    return at % 3 === 0
      ? assert.rejects(writeThreads.write({ ...asked, fd: 1_000_000 }), { code: "EBADF" })
      : writeThreads.write({ ...asked, fd });
  });
  await Promise.all(answers);
});

function batchOf(bytes: Buffer): Batch {
  const slab = alignedBytes(128 * 1024);
  slab.fill(bytes, 0, bytes.length);
  return { slab, length: bytes.length, chunkBytes: chunkBytesOf(bytes.length), crc64: true };
}

async function newFile(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-write-"));
  const file = await open(join(folder, "file"), "w+");
  t.after(async () => {
    await file.close();
    await rm(folder, { recursive: true });
  });
  return file;
}
