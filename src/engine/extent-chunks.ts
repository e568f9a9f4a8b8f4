import type { Bytes } from "../base/bytes.ts";
import { PAGE_BYTES, placeInAlignedMemory } from "../machine/aligned-bytes.ts";
import { clearMemory } from "../machine/clear-memory.ts";
import { crc64Remainder } from "../machine/crc64.ts";
import { xxh64Low, xxh64LowAt } from "../machine/xxh64.ts";
import type { Sums } from "./sum-queue.ts";

/**
 * In an extent file, a long piece is a sequence of strides: a chunk of bytes followed by its
 * checksum. All but the last are full, so that every stride begins on a page. Reading a byte means
 * reading and checking its whole chunk, so that damage never goes unseen.
 *
 * Pieces begin on a page, too. No two share a disk sector, so a power cut during one write cannot
 * damage a piece that was acknowledged before.
 */
export const STRIDE_BYTES = 64 * 1024;
export const CHECKSUM_BYTES = 4;
export const CHUNK_BYTES = STRIDE_BYTES - CHECKSUM_BYTES;

/**
 * Up to this size a piece is one chunk, and the file holds nothing but its bytes. Blocks of 64 KiB
 * are common, and can be written straight from the buffer they were received in. Their checksum is
 * part of the address, so it can be computed while they are being written.
 */
export const ONE_CHUNK_BYTES_MAX = 64 * 1024;

/** The length of a piece's chunks, except the last one. */
export function chunkBytesOf(length: number): number {
  return length <= ONE_CHUNK_BYTES_MAX ? ONE_CHUNK_BYTES_MAX : CHUNK_BYTES;
}

/** Whether a piece with chunks of this length has only one. */
export function isOnlyChunk(chunkBytes: number): boolean {
  return chunkBytes === ONE_CHUNK_BYTES_MAX;
}

/**
 * The checksum of a chunk, seeded with the extent's number: a file may have belonged to another
 * extent, and old bytes that the disk failed to overwrite must not pass as new ones.
 */
export function checksumOf(chunk: Bytes, extent: number): number {
  return xxh64Low(chunk, extent);
}

/** The checksum of an only chunk, which is in its address. */
export function seedlessChecksumOf(chunk: Bytes): number {
  return xxh64Low(chunk, 0);
}

/** The chunks of a batch, in the order of its bytes. */
export function chunksIn(pages: Bytes, length: number, chunkBytes: number): Bytes[] {
  const chunks: Bytes[] = [];
  for (let left = length, at = 0; left > 0; left -= chunkBytes, at += chunkBytes + CHECKSUM_BYTES) {
    chunks.push(pages.subarray(at, at + Math.min(left, chunkBytes)));
  }
  return chunks;
}

/** Writes checksums behind the chunks of a batch, except an only chunk, and zeros at the end. */
export function sealChunks(pages: Bytes, length: number, chunkBytes: number, extent: number): void {
  const place = placeInAlignedMemory(pages) as number;
  let at = isOnlyChunk(chunkBytes) ? length : 0;
  for (let left = length - at; left > 0; left -= chunkBytes) {
    const end = at + Math.min(left, chunkBytes);
    at = pages.writeUInt32LE(xxh64LowAt(place + at, place + end, extent), end);
  }
  clearMemory(place + at, place + pages.length);
}

/** The checksum in the address of a piece with only one chunk; 0 for any other piece. */
export function checksumInAddress(pages: Bytes, length: number, chunkBytes: number): number {
  const place = placeInAlignedMemory(pages) as number;
  return isOnlyChunk(chunkBytes) ? xxh64LowAt(place, place + length, 0) : 0;
}

/** Computes the CRC-64 remainder of a batch, and the checksum for its address. */
export function sumsOf(pages: Bytes, length: number, chunkBytes: number): Sums {
  let remainder = 0n;
  for (const chunk of chunksIn(pages, length, chunkBytes)) {
    remainder = crc64Remainder(chunk, remainder);
  }
  return { remainder, checksum: checksumInAddress(pages, length, chunkBytes) };
}

/** The bytes that a piece, or a batch of it, takes in its file, padding included. */
export function bytesOnDisk(length: number, chunkBytes = chunkBytesOf(length)): number {
  const checksums = isOnlyChunk(chunkBytes) ? 0 : Math.ceil(length / chunkBytes);
  return upToPage(length + checksums * CHECKSUM_BYTES);
}

/** The length of the longest piece that takes no more than this in its file. */
export function lengthWithin(bytesOnDisk: number): number {
  const strides = Math.floor(bytesOnDisk / STRIDE_BYTES);
  const rest = bytesOnDisk - strides * STRIDE_BYTES;
  return strides * CHUNK_BYTES + Math.max(rest - CHECKSUM_BYTES, 0);
}

export function upToPage(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}
