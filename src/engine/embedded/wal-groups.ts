import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { Cell } from "./memtable.ts";

/**
 * Groups begin on page boundaries. No two share a disk sector, so a power cut during one write
 * cannot damage an acknowledged group.
 *
 * Mark and checksum depend on a secret of this store. Old values stay in the file, and a client
 * could otherwise send a value that reads as a group.
 *
 * Layout of a group: mark, checksum of all that follows, total bytes, number of records (4 bytes
 * each), group number, last stamp (8 bytes each). Then for each record: bytes of the key (2), bytes
 * of the value plus one, or 0 if deleted (4), key, value. A value that was appended to in place has
 * only its new bytes here, and `APPEND_FLAG` in its size.
 */
const CHECKSUM_AT = 4;
const SIZE_AT = 8;
const COUNT_AT = 12;
const NUMBER_AT = 16;
const STAMP_AT = 24;
const HEADER_BYTES = 32;
const RECORD_BYTES = 6;
const APPEND_FLAG = 2 ** 31;

/** Pads a group to a page. Filling shared memory from a buffer is faster than from a number. */
const ZERO_PAGE = Buffer.alloc(PAGE_BYTES);

/** Random numbers of a store that mark its groups and seed their checksums. */
export interface WalSecret {
  readonly mark: number;
  readonly seed: number;
}

export interface LoggedRecord {
  readonly key: Bytes;
  readonly value: Bytes | null;
  /** Whether `value` is appended to the value of an earlier record with this key. */
  readonly isAppend: boolean;
}

export interface LoggedGroup {
  readonly number: number;
  readonly lastStamp: bigint;
  /** Includes the padding. */
  readonly bytesOnDisk: number;
  readonly records: readonly LoggedRecord[];
}

/** The most bytes that a record adds to its group. */
export function bytesOfRecord(key: Bytes, value: Bytes | null): number {
  return RECORD_BYTES + key.length + (value?.length ?? 0);
}

/** The bytes on disk of a group whose records take this much. */
export function bytesOfGroup(bytesOfRecords: number): number {
  return wholePages(HEADER_BYTES + bytesOfRecords);
}

function wholePages(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}

/** Writes a group into `room`, returns the part used, and marks its cells as logged. */
export function encodeGroup(
  secret: WalSecret,
  number: number,
  lastStamp: bigint,
  cells: readonly Cell[],
  room: Bytes,
): Bytes {
  let at = HEADER_BYTES;
  for (const cell of cells) {
    const { name, head, size, logged } = cell;
    room.writeUInt16LE(name.length, at);
    const sized = size - logged + 1 + (logged > 0 ? APPEND_FLAG : 0);
    room.writeUInt32LE(head === null ? 0 : sized, at + 2);
    at += RECORD_BYTES;
    at += room.write(name, at, "latin1");
    at = writeRest(cell, room, at);
    cell.logged = size;
  }
  const end = wholePages(at);
  room.fill(ZERO_PAGE, at, end);
  room.writeUInt32LE(secret.mark, 0);
  room.writeUInt32LE(at, SIZE_AT);
  room.writeUInt32LE(cells.length, COUNT_AT);
  room.writeBigUInt64LE(BigInt(number), NUMBER_AT);
  room.writeBigUInt64LE(lastStamp, STAMP_AT);
  room.writeUInt32LE(crc32(room.subarray(SIZE_AT, at), secret.seed), CHECKSUM_AT);
  return room.subarray(0, end);
}

/** Writes the bytes of a value that the WAL does not have yet. Returns the end position. */
function writeRest(cell: Cell, room: Bytes, from: number): number {
  let at = writePiece(cell.head, cell.logged, room, from);
  let passed = cell.head?.length ?? 0;
  for (const more of cell.appended ?? []) {
    at = writePiece(more, cell.logged - passed, room, at);
    passed += more.length;
  }
  return at;
}

function writePiece(piece: Bytes | null, skip: number, room: Bytes, at: number): number {
  if (piece === null || piece.length <= skip) return at;
  const rest = skip > 0 ? piece.subarray(skip) : piece;
  // `fill` is faster than `copy`, which copies word by word into shared memory.
  room.fill(rest, at, at + rest.length);
  return at + rest.length;
}

/** The whole group that begins at `at`, or null. Its values share the memory of `bytes`. */
export function decodeGroup(secret: WalSecret, bytes: Bytes, at: number): LoggedGroup | null {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== secret.mark) return null;
  const size = bytes.readUInt32LE(at + SIZE_AT);
  if (size < HEADER_BYTES || at + size > bytes.length) return null;
  const checked = bytes.subarray(at + SIZE_AT, at + size);
  if (crc32(checked, secret.seed) !== bytes.readUInt32LE(at + CHECKSUM_AT)) return null;
  return {
    number: Number(bytes.readBigUInt64LE(at + NUMBER_AT)),
    lastStamp: bytes.readBigUInt64LE(at + STAMP_AT),
    bytesOnDisk: wholePages(size),
    records: decodeRecords(bytes.subarray(at + HEADER_BYTES, at + size)),
  };
}

/** The number of the group that begins at `at`, whole or torn; null if none does. */
export function numberAt(secret: WalSecret, bytes: Bytes, at: number): number | null {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== secret.mark) return null;
  return Number(bytes.readBigUInt64LE(at + NUMBER_AT));
}

function decodeRecords(bytes: Bytes): LoggedRecord[] {
  const records: LoggedRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const keyEnd = at + RECORD_BYTES + bytes.readUInt16LE(at);
    const sized = bytes.readUInt32LE(at + 2);
    const isAppend = sized >= APPEND_FLAG;
    const key = bytes.subarray(at + RECORD_BYTES, keyEnd);
    at = sized === 0 ? keyEnd : keyEnd + (sized % APPEND_FLAG) - 1;
    records.push({ key, value: sized === 0 ? null : bytes.subarray(keyEnd, at), isAppend });
  }
  return records;
}
