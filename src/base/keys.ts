import type { Bytes } from "./bytes.ts";
import { eightBytes } from "./eight-bytes.ts";

/**
 * Keys of the store are tuples in memcmp order. Tuples compare part by part, strings by UTF-8 bytes
 * (code point order), numbers by value. All keys with the same first parts are adjacent.
 */
export type KeyPart = string | number | bigint | Bytes;

// A text ends with 00. Bytes 00 and 01 inside it are escaped as 01 01 and 01 02. That preserves the
// order, and the end mark is the only 00, whatever part comes next.
const TEXT_END = 0x00;
const TEXT_ESCAPE = 0x01;

/** The kinds of records: the first byte of every key. A number is never reused for another kind. */
export const SPACE = {
  engine: 0x01,
  content: 0x02,
  contentSegment: 0x03,
  contentShares: 0x04,
  contentGarbage: 0x05,
  extentUse: 0x06,
  rangeEntry: 0x07,
  rangeLayer: 0x08,
  crowdedRegion: 0x09,
  doomedRangeLayer: 0x0a,
  /** A process that has made extents, until those that it left behind are collected. */
  extentMaker: 0x0b,
  /** The object store that has the extents. */
  extentPlace: 0x0c,
  /** A front end that runs, one that has ended and left something behind, and who leads. */
  frontEnd: 0x0d,
  endedFrontEnd: 0x0e,
  leader: 0x0f,
  serviceProperties: 0x10,
  deleteRetention: 0x11,
  /** Where the extents that backups copied came from. */
  extentOrigins: 0x1e,
  container: 0x20,
  blob: 0x21,
  stagedBlob: 0x22,
  stagedBlock: 0x23,
  doomedContainer: 0x24,
  doomedStagedBlob: 0x25,
  blobSnapshot: 0x26,
  blobVersion: 0x27,
  deletedBlob: 0x28,
  deletedContainer: 0x29,
  expiringBlob: 0x2a,
  deletedRevision: 0x2b,
  blobTag: 0x2c,
  pendingCopy: 0x2d,
  /** Files and directories of hierarchical containers that were deleted. */
  deletedPath: 0x2e,
  queue: 0x30,
  message: 0x31,
  messageSlot: 0x32,
  messageCount: 0x33,
  expiringQueue: 0x34,
  doomedQueue: 0x35,
  table: 0x40,
  entity: 0x41,
  doomedTable: 0x42,
  share: 0x50,
  shareSnapshot: 0x51,
  shareUsage: 0x52,
  doomedShare: 0x53,
  deletedShare: 0x54,
  filePermission: 0x55,
  directoryEntry: 0x58,
  directory: 0x59,
  file: 0x5a,
  /** Old versions of records that share snapshots still show. */
  preservedRecord: 0x5b,
  opens: 0x5c,
  handle: 0x5d,
  rangeLock: 0x5e,
  deletePending: 0x5f,
  cache: 0x62,
  /** The file of a share that an SMB lease belongs to. */
  leasedFile: 0x63,
  persistentHandle: 0x64,
  /** A share with this name that was just deleted. */
  shareDeletion: 0x65,
  /** What a front end tells another one about SMB clients. */
  peerMessage: 0x66,
  /** A share whose changes a front end wants to hear of. */
  watchedShare: 0x67,
  /** A share that lost a snapshot, so that some of its old records may be obsolete. */
  thinnedShare: 0x57,
  pendingFileCopy: 0x60,
} as const;

export type Space = (typeof SPACE)[keyof typeof SPACE];

/** The longest key: a blob name of 3,072 UTF-8 bytes after a tag and its value. */
export const KEY_BYTES_MAX = 3_500;

/** Makes a key. Numbers are unsigned and below 2^64. */
export function key(space: Space, ...parts: KeyPart[]): Bytes {
  let size = 1;
  for (const part of parts) size += sizeOf(part);
  const bytes = Buffer.allocUnsafe(size);
  bytes[0] = space;
  let at = 1;
  for (const part of parts) at = writePart(bytes, at, part);
  return bytes;
}

/** The least key that sorts after every key with this prefix. */
export function keyAfter(prefix: Bytes): Bytes {
  const bytes = Buffer.from(prefix);
  for (let at = bytes.length - 1; at >= 0; at--) {
    const value = bytes[at] ?? 0;
    if (value < 0xff) {
      bytes[at] = value + 1;
      return bytes.subarray(0, at + 1);
    }
  }
  throw new Error("no key lies behind a prefix of ff bytes");
}

/** The least key that sorts after this one. */
export function keyBehind(key: Bytes): Bytes {
  if (key.length >= KEY_BYTES_MAX) return keyAfter(key);
  const bytes = Buffer.allocUnsafe(key.length + 1);
  bytes.set(key);
  bytes[key.length] = 0;
  return bytes;
}

/**
 * The prefix of all keys whose last text part begins with `text`: `key(…)` without the end mark of
 * that part.
 */
export function keyOfTextPrefix(space: Space, parts: KeyPart[], text: string): Bytes {
  const whole = key(space, ...parts, text);
  return whole.subarray(0, whole.length - 1);
}

const SURROGATE = /[\ud800-\udfff]/;

/**
 * A key part that sorts a text by its UTF-16 units, as JavaScript compares strings, and preserves
 * even half of a surrogate pair. UTF-8 sorts the first 65,536 characters the same way.
 */
export function ordinalPart(text: string): KeyPart {
  if (!SURROGATE.test(text)) return text;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= TEXT_ESCAPE) bytes.push(TEXT_ESCAPE, unit + 1);
    else if (unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  bytes.push(TEXT_END);
  return Buffer.from(bytes);
}

/** Reads the parts of a key, in their order. */
export class KeyReader {
  readonly #bytes: Bytes;
  #at = 1;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  text(): string {
    const start = this.#at;
    const end = this.#bytes.indexOf(TEXT_END, start);
    if (end < 0) throw new Error("a text in a key has no end");
    this.#at = end + 1;
    const escaped = this.#bytes.indexOf(TEXT_ESCAPE, start);
    if (escaped < 0 || escaped > end) return this.#bytes.toString("utf8", start, end);
    const plain: number[] = [];
    for (let at = start; at < end; at++) {
      const value = this.#bytes[at] as number;
      plain.push(value === TEXT_ESCAPE ? (this.#bytes[++at] as number) - 1 : value);
    }
    return Buffer.from(plain).toString("utf8");
  }

  /** Reads a part made by `ordinalPart`. */
  ordinal(): string {
    const start = this.#at;
    let at = start;
    let byte = this.#bytes[at] as number;
    while (byte > TEXT_ESCAPE && byte < 0x80) byte = this.#bytes[++at] as number;
    if (byte === TEXT_END) {
      this.#at = at + 1;
      return this.#bytes.toString("latin1", start, at);
    }
    const text = this.text();
    const surrogate = this.#bytes.indexOf(SURROGATE_LEAD, start);
    if (surrogate < 0 || surrogate >= this.#at) return text;
    return textOfUnits(this.#bytes.subarray(start, this.#at - 1));
  }

  /** The bytes that are left. */
  rest(): Bytes {
    return this.#bytes.subarray(this.#at);
  }

  u64(): bigint {
    const value = this.#bytes.readBigUInt64BE(this.#at);
    this.#at += 8;
    return value;
  }

  /** A number that is known to stay below 2^53. */
  number(): number {
    return Number(this.u64());
  }
}

/** The first of the three bytes of every surrogate, and of some Korean letters. */
const SURROGATE_LEAD = 0xed;

function textOfUnits(bytes: Bytes): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++] as number;
    const next = () => bytes[at++] as number;
    if (lead === TEXT_ESCAPE) text += String.fromCharCode(next() - 1);
    else if (lead < 0x80) text += String.fromCharCode(lead);
    else if (lead < 0xe0) text += String.fromCharCode(((lead & 0x1f) << 6) | (next() & 0x3f));
    else {
      const unit = ((lead & 0x0f) << 12) | ((next() & 0x3f) << 6) | (next() & 0x3f);
      text += String.fromCharCode(unit);
    }
  }
  return text;
}

function sizeOf(part: KeyPart): number {
  if (typeof part === "string") {
    const plain = isPlain(part) ? part.length : Buffer.byteLength(part, "utf8") + escapesIn(part);
    return plain + 1;
  }
  return typeof part === "object" ? part.length : 8;
}

/** Whether each character is one byte and none needs an escape, as in nearly all texts. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char <= TEXT_ESCAPE || char >= 0x80) return false;
  }
  return true;
}

function escapesIn(text: string): number {
  let found = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) <= TEXT_ESCAPE) found++;
  return found;
}

function writePart(bytes: Bytes, at: number, part: KeyPart): number {
  if (typeof part === "string") return writeText(bytes, at, part);
  if (typeof part === "object") return at + part.copy(bytes, at);
  const eight = eightBytes();
  eight.view.setBigUint64(0, typeof part === "bigint" ? part : BigInt(part));
  for (let index = 0; index < 8; index++) bytes[at + index] = eight.bytes[index] as number;
  return at + 8;
}

function writeText(bytes: Bytes, start: number, text: string): number {
  let at = start;
  if (isPlain(text)) {
    // Faster than a call of `write` for all but the longest names.
    for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
  } else {
    for (const value of Buffer.from(text, "utf8")) {
      if (value <= TEXT_ESCAPE) bytes[at++] = TEXT_ESCAPE;
      bytes[at++] = value <= TEXT_ESCAPE ? value + 1 : value;
    }
  }
  bytes[at] = TEXT_END;
  return at + 1;
}
