import type { FileHandle } from "node:fs/promises";
import { TransferError } from "../transfer-error.ts";

/** Headers of tar files: POSIX ustar, with pax records for what does not fit. */

export const TAR_BLOCK = 512;
const [NAME_BYTES, SIZE_AT, SIZE_BYTES, SUM_AT, TYPE_AT] = [100, 124, 12, 148, 156] as const;
/** The largest size that eleven octal digits can write. */
const SIZE_MAX = 8 ** 11 - 1;
const PAX_BYTES_MAX = 1024 * 1024;

/** The header of a file, with a pax entry before it if its name or size needs one. */
export function tarHeader(name: string, bytes: number, modifiedMs: number): Buffer {
  const isPlain = /^[\x20-\x7e]*$/.test(name) && name.length <= NAME_BYTES;
  const records = [
    ...(isPlain ? [] : [paxRecord("path", name)]),
    ...(bytes <= SIZE_MAX ? [] : [paxRecord("size", `${bytes}`)]),
  ];
  const short = isPlain ? name : `pax-${Buffer.byteLength(name)}`;
  const own = header(short, Math.min(bytes, SIZE_MAX), "0", modifiedMs);
  if (records.length === 0) return own;
  const pax = Buffer.concat(records);
  const before = header("pax", pax.length, "x", modifiedMs);
  return Buffer.concat([before, pax, Buffer.alloc(paddingOf(pax.length)), own]);
}

/** The zeros behind a body. */
export function paddingOf(bytes: number): number {
  return (TAR_BLOCK - (bytes % TAR_BLOCK)) % TAR_BLOCK;
}

function header(name: string, bytes: number, type: string, modifiedMs: number): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  block.write(name, 0, "utf8");
  block.write("0000600\0", 100, "latin1");
  block.write("0000000\0", 108, "latin1");
  block.write("0000000\0", 116, "latin1");
  block.write(octal(bytes), SIZE_AT, "latin1");
  block.write(octal(Math.max(0, Math.floor(modifiedMs / 1000))), 136, "latin1");
  block.write("        ", SUM_AT, "latin1");
  block.write(type, TYPE_AT, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(`${sumOf(block).toString(8).padStart(6, "0")}\0 `, SUM_AT, "latin1");
  return block;
}

function octal(value: number): string {
  return `${value.toString(8).padStart(11, "0")} `;
}

function sumOf(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < TAR_BLOCK; at++) {
    sum += at >= SUM_AT && at < SUM_AT + 8 ? 0x20 : (block[at] as number);
  }
  return sum;
}

function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  // The length counts its own digits.
  let length = rest.length + 1;
  while (`${length}`.length + rest.length !== length) length++;
  return Buffer.concat([Buffer.from(`${length}`), rest]);
}

export interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "other";
  readonly bytes: number;
  readonly modifiedMs: number;
  /** Where its bytes begin. */
  readonly at: number;
  /** Why it cannot be read; it is "other" then. */
  readonly fault?: string;
}

const ODD_NAME = "has a name that is not UTF-8";
const SPARSE = "is packed without its holes, which is not read: pack it without --sparse";

/** Reads the headers of a tar file, and skips the bytes. Throws a `TransferError`. */
export async function* readTar(file: FileHandle, path: string): AsyncGenerator<TarEntry> {
  const { size } = await file.stat();
  const block = Buffer.alloc(TAR_BLOCK);
  let pax = new Map<string, string>();
  for (let at = 0; at + TAR_BLOCK <= size; ) {
    await file.read(block, 0, TAR_BLOCK, at);
    at += TAR_BLOCK;
    if (block.every((byte) => byte === 0)) return;
    requireHeader(block, path);
    const type = String.fromCharCode(block[TYPE_AT] as number);
    const bytes = Number(pax.get("size") ?? sizeIn(block));
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw noTar(path);
    if (at + bytes > size) throw cutShort(path);
    if (type === "x" || type === "L") {
      pax = new Map([...pax, ...(await extensionOf(file, at, bytes, type, path))]);
    } else if (!PASSED_OVER.includes(type)) {
      yield entryOf(block, pax, type, bytes, at);
      pax = new Map();
    }
    at += bytes + paddingOf(bytes);
  }
  // Without the empty blocks at the end, nobody knows how much is missing.
  throw cutShort(path);
}

/** Records for all entries, and long targets of links, which are not followed. */
const PASSED_OVER = ["g", "K"];
const GNU_SPARSE = "S";

function noTar(path: string): TransferError {
  return new TransferError(`${path} is not a tar file, or is damaged.`);
}

function cutShort(path: string): TransferError {
  return new TransferError(`${path} is cut short. Pack it again.`);
}

function requireHeader(block: Buffer, path: string): void {
  const said = Number.parseInt(textIn(block, SUM_AT, 8).trim(), 8);
  if (said !== sumOf(block)) throw noTar(path);
}

function entryOf(
  block: Buffer,
  pax: ReadonlyMap<string, string>,
  type: string,
  bytes: number,
  at: number,
): TarEntry {
  const prefix = textIn(block, 257, 5) === "ustar" ? textIn(block, 345, 155) : "";
  const short = textIn(block, 0, NAME_BYTES);
  const name = pax.get("path") ?? (prefix === "" ? short : `${prefix}/${short}`);
  const modifiedMs = modifiedIn(block, pax);
  const fault = faultOf(name, pax, type);
  if (fault !== null) return { name, kind: "other", bytes: 0, modifiedMs, at, fault };
  const isFile = type === "0" || type === "\0" || type === "7";
  return {
    name,
    kind: type === "5" || (isFile && name.endsWith("/")) ? "directory" : isFile ? "file" : "other",
    bytes: isFile ? bytes : 0,
    modifiedMs,
    at,
  };
}

function faultOf(name: string, pax: ReadonlyMap<string, string>, type: string): string | null {
  const keys = [...pax.keys()];
  if (type === GNU_SPARSE || keys.some((key) => key.startsWith("GNU.sparse."))) return SPARSE;
  // Stands for bytes that are not UTF-8: several names could become one.
  return name.includes("\ufffd") ? ODD_NAME : null;
}

/** The time of the last change; 0 if none can be read, as of times before 1970 in some forms. */
function modifiedIn(block: Buffer, pax: ReadonlyMap<string, string>): number {
  const seconds = Number(pax.get("mtime") ?? Number.parseInt(textIn(block, 136, 12), 8));
  const ms = Math.round(seconds * 1000);
  return Number.isNaN(new Date(ms).getTime()) ? 0 : ms;
}

/** Octal digits, or for larger sizes a big-endian number. */
function sizeIn(block: Buffer): number {
  if (((block[SIZE_AT] as number) & 0x80) === 0) {
    return Number.parseInt(textIn(block, SIZE_AT, SIZE_BYTES).trim() || "0", 8);
  }
  return Number(block.readBigUInt64BE(SIZE_AT + 4));
}

/** The records of a pax entry, or the long name of GNU tar. */
async function extensionOf(
  file: FileHandle,
  at: number,
  bytes: number,
  type: string,
  path: string,
): Promise<Map<string, string>> {
  if (bytes > PAX_BYTES_MAX) throw new TransferError(`${path} has a header that is too long.`);
  const content = Buffer.alloc(bytes);
  await file.read(content, 0, bytes, at);
  if (type === "L") return new Map([["path", content.toString("utf8").replace(/\0.*$/s, "")]]);
  const found = new Map<string, string>();
  for (let from = 0; from < content.length; ) {
    const length = Number.parseInt(content.toString("latin1", from, from + 20), 10);
    if (!(length > 0)) break;
    const record = content.toString("utf8", from, from + length - 1);
    const [, key = "", value = ""] = /^\d+ ([^=]*)=(.*)$/s.exec(record) ?? [];
    found.set(key, value);
    from += length;
  }
  return found;
}

function textIn(block: Buffer, from: number, bytes: number): string {
  return block.toString("utf8", from, from + bytes).replace(/\0.*$/s, "");
}
