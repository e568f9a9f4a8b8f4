import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { WalFile } from "./wal-file.ts";
import type { WalSecret } from "./wal-groups.ts";

/**
 * The first page of a write-ahead WAL file. It is written together with the first group behind it,
 * and all of it lies in one disk sector: a power cut leaves the old header or the new one.
 */
export interface WalHeader {
  /** Rises by one each time a file is begun: of the two files one is always one ahead. */
  readonly generation: number;
  /** The number of the first group behind it. All groups before were durable when it was written. */
  readonly firstGroup: number;
}

/** Groups begin behind the header. */
export const WAL_HEADER_BYTES = PAGE_BYTES;

const CHECKSUM_AT = 4;
const GENERATION_AT = 8;
const FIRST_GROUP_AT = 16;
const END = 24;

/** Fills the first page of `room`. */
export function encodeWalHeader(secret: WalSecret, header: WalHeader, room: Bytes): void {
  room.fill(NO_PAGE, 0, WAL_HEADER_BYTES);
  room.writeUInt32LE(markOf(secret), 0);
  room.writeBigUInt64LE(BigInt(header.generation), GENERATION_AT);
  room.writeBigUInt64LE(BigInt(header.firstGroup), FIRST_GROUP_AT);
  room.writeUInt32LE(crc32(room.subarray(GENERATION_AT, END), secret.seed), CHECKSUM_AT);
}

/** The header of a file; null if it has none of this store. */
export function decodeWalHeader(secret: WalSecret, file: Bytes): WalHeader | null {
  if (file.length < END || file.readUInt32LE(0) !== markOf(secret)) return null;
  const checksum = crc32(file.subarray(GENERATION_AT, END), secret.seed);
  if (checksum !== file.readUInt32LE(CHECKSUM_AT)) return null;
  return {
    generation: Number(file.readBigUInt64LE(GENERATION_AT)),
    firstGroup: Number(file.readBigUInt64LE(FIRST_GROUP_AT)),
  };
}

/** Gives both files a header, without a group behind it. */
export async function makeWal(
  secret: WalSecret,
  files: readonly [WalFile, WalFile],
  generations: readonly [number, number],
  firstGroup: number,
): Promise<void> {
  for (const [at, file] of files.entries()) {
    encodeWalHeader(secret, { generation: generations[at] as number, firstGroup }, headerPage);
    await file.write(headerPage, 0);
  }
}

const headerPage = alignedBytes(PAGE_BYTES);
const NO_PAGE = Buffer.alloc(PAGE_BYTES);

/** Never that of a group. */
function markOf({ mark }: WalSecret): number {
  return ~mark >>> 0;
}
