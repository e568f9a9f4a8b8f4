import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { alignedBytes, freeAlignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { WalFile } from "./wal-file.ts";
import type { WalSecret } from "./wal-groups.ts";

/**
 * The first page of a WAL file. It is written together with the first group, and fits into one disk
 * sector: a power cut leaves the old header or the new one.
 */
export interface WalHeader {
  /** Rises by one with each switch of files: one of the two files is always one ahead. */
  readonly generation: number;
  /** The number of the file's first group. All earlier groups are durable when it is written. */
  readonly firstGroup: number;
}

/** Where the first group begins. */
export const WAL_HEADER_BYTES = PAGE_BYTES;

const CHECKSUM_AT = 4;
const GENERATION_AT = 8;
const FIRST_GROUP_AT = 16;
const END = 24;

/** Writes a header to the first page of `room`. */
export function encodeWalHeader(secret: WalSecret, header: WalHeader, room: Bytes): void {
  room.fill(ZERO_PAGE, 0, WAL_HEADER_BYTES);
  room.writeUInt32LE(markOf(secret), 0);
  room.writeBigUInt64LE(BigInt(header.generation), GENERATION_AT);
  room.writeBigUInt64LE(BigInt(header.firstGroup), FIRST_GROUP_AT);
  room.writeUInt32LE(crc32(room.subarray(GENERATION_AT, END), secret.seed), CHECKSUM_AT);
}

/** The header of a file; null if it has no header of this store. */
export function decodeWalHeader(secret: WalSecret, file: Bytes): WalHeader | null {
  if (file.length < END || file.readUInt32LE(0) !== markOf(secret)) return null;
  const checksum = crc32(file.subarray(GENERATION_AT, END), secret.seed);
  if (checksum !== file.readUInt32LE(CHECKSUM_AT)) return null;
  return {
    generation: Number(file.readBigUInt64LE(GENERATION_AT)),
    firstGroup: Number(file.readBigUInt64LE(FIRST_GROUP_AT)),
  };
}

/** Writes new headers, without groups, to both files. */
export async function makeWal(
  secret: WalSecret,
  files: readonly [WalFile, WalFile],
  generations: readonly [number, number],
  firstGroup: number,
): Promise<void> {
  const page = alignedBytes(PAGE_BYTES);
  for (const [at, file] of files.entries()) {
    encodeWalHeader(secret, { generation: generations[at] as number, firstGroup }, page);
    await file.write(page, 0);
  }
  freeAlignedBytes(page);
}

const ZERO_PAGE = Buffer.alloc(PAGE_BYTES);

/** Differs from the mark of a group. */
function markOf({ mark }: WalSecret): number {
  return ~mark >>> 0;
}
