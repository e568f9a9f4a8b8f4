import { PAGE_BYTES } from "../../base/aligned-bytes.ts";

/**
 * In a file, a piece is a row of strides: a chunk of its bytes, and their checksum behind it, the low
 * half of an XXH64. All but the last are full, so that every stride begins on a page. Whoever wants a
 * byte reads its whole chunk, so that damage never goes unseen.
 *
 * Pieces begin on a page, too: no disk sector is shared by two of them, and a power cut while one is
 * written cannot damage another that was acknowledged before.
 */
export const STRIDE_BYTES = 64 * 1024;
export const CHECKSUM_BYTES = 4;
export const CHUNK_BYTES = STRIDE_BYTES - CHECKSUM_BYTES;

/** What a piece takes in its file, the gap up to the next piece included. */
export function bytesOnDisk(length: number): number {
  return upToPage(length + Math.ceil(length / CHUNK_BYTES) * CHECKSUM_BYTES);
}

/** How long a piece may be that takes no more than so much in its file. */
export function lengthWithin(bytesOnDisk: number): number {
  const strides = Math.floor(bytesOnDisk / STRIDE_BYTES);
  const rest = bytesOnDisk - strides * STRIDE_BYTES;
  return strides * CHUNK_BYTES + Math.max(rest - CHECKSUM_BYTES, 0);
}

export function upToPage(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}
