import assert from "node:assert/strict";
import { test } from "node:test";
import { alignedBytes } from "../machine/aligned-bytes.ts";
import { Crc64, crc64 } from "../machine/crc64.ts";
import { xxh64Low } from "../machine/xxh64.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import {
  bytesOnDisk,
  CHECKSUM_BYTES,
  checksumOf,
  chunkBytesOf,
  chunksIn,
  isOnlyChunk,
  sealChunks,
  sumsOf,
} from "./extent-chunks.ts";

const EXTENT = 7;

for (const length of [1, 4092, 4093, 50_000, 65_536, 65_537, 200_000]) {
  const chunkBytes = chunkBytesOf(length);

  test(`${length} bytes get a checksum of each chunk, and zeros up to the end of the page`, () => {
    const pages = batchOf(length);
    const chunks = chunksIn(pages, length, chunkBytes).map((chunk) => Buffer.from(chunk));
    assert.deepEqual(Buffer.concat(chunks), someBytes(length, length));
    sealChunks(pages, length, chunkBytes, EXTENT);
    let end = 0;
    for (const chunk of chunksIn(pages, length, chunkBytes)) {
      end += chunk.length;
      if (isOnlyChunk(chunkBytes)) continue;
      assert.equal(pages.readUInt32LE(end), checksumOf(chunk, EXTENT));
      end += CHECKSUM_BYTES;
    }
    const { checksum } = sumsOf(pages, length, chunkBytes);
    assert.equal(checksum, isOnlyChunk(chunkBytes) ? xxh64Low(pages.subarray(0, length), 0) : 0);
    assert.ok(pages.subarray(end).every((byte) => byte === 0));
  });

  test(`${length} bytes have the right CRC-64, whatever lies between the chunks`, () => {
    const crc = new Crc64();
    crc.append(sumsOf(batchOf(length), length, chunkBytes).remainder, length);
    assert.deepEqual(crc.digest(), crc64(someBytes(length, length)));
  });
}

function batchOf(length: number): Buffer {
  const pages = alignedBytes(bytesOnDisk(length));
  pages.fill(Buffer.alloc(pages.length, 0xaa), 0, pages.length);
  const bytes = someBytes(length, length);
  let from = 0;
  for (const chunk of chunksIn(pages, length, chunkBytesOf(length))) {
    chunk.fill(bytes.subarray(from, from + chunk.length), 0, chunk.length);
    from += chunk.length;
  }
  return pages;
}
