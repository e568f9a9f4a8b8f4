import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { Cell } from "./memtable.ts";

/**
 * Groups begin on pages: no disk sector is shared by two of them, so that a power cut while one is
 * written cannot damage another that was acknowledged before.
 *
 * Values are what clients sent, and old ones stay in the file: so that none of them can pass for a
 * group, mark and checksum rest on a secret of this store.
 *
 * A group: mark, checksum of all behind it, bytes in all, records (4 bytes each), number, last stamp
 * (8 bytes each); then its records: bytes of the key (2), bytes of the value and one, or 0 if it was
 * deleted (4), key, value. Of a value that goes on where an earlier group of the file has left it,
 * there is only what is new, and its size says so.
 */
const CHECKSUM_AT = 4;
const SIZE_AT = 8;
const COUNT_AT = 12;
const NUMBER_AT = 16;
const STAMP_AT = 24;
const HEADER_BYTES = 32;
const RECORD_BYTES = 6;
const TAIL = 2 ** 31;

/** What lies behind a group, up to the next page. To fill shared memory with a number goes byte by byte. */
const NO_PAGE = Buffer.alloc(PAGE_BYTES);

export interface WalSecret {
  readonly mark: number;
  /** What checksums begin with. */
  readonly seed: number;
}

export interface LoggedRecord {
  readonly key: Bytes;
  readonly value: Bytes | null;
  /** Whether it goes behind the value that an earlier record gave this key. */
  readonly isAppend: boolean;
}

export interface LoggedGroup {
  readonly number: number;
  readonly lastStamp: bigint;
  /** With what is left unused behind it. */
  readonly bytesOnDisk: number;
  readonly records: readonly LoggedRecord[];
}

/** At most what a record adds to its group. */
export function bytesOfRecord(key: Bytes, value: Bytes | null): number {
  return RECORD_BYTES + key.length + (value?.length ?? 0);
}

/** What a group takes whose records add so much to it. */
export function bytesOfGroup(bytesOfRecords: number): number {
  return wholePages(HEADER_BYTES + bytesOfRecords);
}

function wholePages(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}

/** Writes a group into `room`, and returns that part of it. Its cells know that they are logged. */
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
    const sized = size - logged + 1 + (logged > 0 ? TAIL : 0);
    room.writeUInt32LE(head === null ? 0 : sized, at + 2);
    at += RECORD_BYTES;
    at += room.write(name, at, "latin1");
    at = writeRest(cell, room, at);
    cell.logged = size;
  }
  const end = wholePages(at);
  room.fill(NO_PAGE, at, end);
  room.writeUInt32LE(secret.mark, 0);
  room.writeUInt32LE(at, SIZE_AT);
  room.writeUInt32LE(cells.length, COUNT_AT);
  room.writeBigUInt64LE(BigInt(number), NUMBER_AT);
  room.writeBigUInt64LE(lastStamp, STAMP_AT);
  room.writeUInt32LE(crc32(room.subarray(SIZE_AT, at), secret.seed), CHECKSUM_AT);
  return room.subarray(0, end);
}

/** What the WAL does not have of a value; where it ends is returned. */
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
  // Into shared memory `copy` would go word by word.
  room.fill(rest, at, at + rest.length);
  return at + rest.length;
}

/** The group that begins at `at`; null if none does. Its values share the memory of `bytes`. */
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

/** The number of the group that was begun at `at`, whole or not; null if none was. */
export function numberAt(secret: WalSecret, bytes: Bytes, at: number): number | null {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== secret.mark) return null;
  return Number(bytes.readBigUInt64LE(at + NUMBER_AT));
}

function decodeRecords(bytes: Bytes): LoggedRecord[] {
  const records: LoggedRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const keyEnd = at + RECORD_BYTES + bytes.readUInt16LE(at);
    const sized = bytes.readUInt32LE(at + 2);
    const isAppend = sized >= TAIL;
    const key = bytes.subarray(at + RECORD_BYTES, keyEnd);
    at = sized === 0 ? keyEnd : keyEnd + (sized % TAIL) - 1;
    records.push({ key, value: sized === 0 ? null : bytes.subarray(keyEnd, at), isAppend });
  }
  return records;
}
