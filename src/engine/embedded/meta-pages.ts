import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";

/** What LMDB believes of its file without a look. */
export interface Meta {
  readonly pageBytes: number;
  /** Pages that hold records, or tell which ones are free. */
  readonly usedPages: number;
  /** Behind it there is nothing. Pages before it that are free may never have been written. */
  readonly lastPage: number;
}

const MAGIC = 0xbeef_c0de;
const DATA_VERSION = 2;
const META_FLAG = 0x08;
const FLAGS_AT = 18;
const META_AT = 24;
const META_BYTES = 136;
const [MAGIC_AT, VERSION_AT, TREES_AT, LAST_PAGE_AT, TRANSACTION_AT] = [0, 4, 24, 120, 128];
const TREE_BYTES = 48;
/** One of what is free, one of records. */
const TREES = 2;
const [PAGE_BYTES_AT, COUNTS_AT, ROOT_AT] = [0, 8, 40];
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
const META_PAGES = 2;
const PAGE_BYTES_MAX = 65_536;

/**
 * The page that LMDB goes by, of the two with which its file begins; null if one of them is none. The
 * other one need not be sound: a write of it that failed leaves a mix of old and new there.
 */
export async function readMeta(file: FileHandle): Promise<Meta | null> {
  const first = await readPage(file, 0);
  const second = first === null ? null : await readPage(file, first.pageBytes);
  if (first === null || second === null || first.pageBytes !== second.pageBytes) return null;
  const used = first.transaction >= second.transaction ? first : second;
  return used.usedPages === null ? null : { ...used, usedPages: used.usedPages };
}

interface MetaPage extends Omit<Meta, "usedPages"> {
  readonly transaction: bigint;
  /** Null if what it says cannot be. */
  readonly usedPages: number | null;
}

async function readPage(file: FileHandle, at: number): Promise<MetaPage | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(META_AT + META_BYTES), 0, null, at);
  if (bytesRead < buffer.length || (buffer.readUInt16LE(FLAGS_AT) & META_FLAG) === 0) return null;
  const meta = buffer.subarray(META_AT);
  const version = meta.readUInt16LE(VERSION_AT);
  if (meta.readUInt32LE(MAGIC_AT) !== MAGIC || version !== DATA_VERSION) return null;
  const pageBytes = meta.readUInt32LE(TREES_AT + PAGE_BYTES_AT);
  const lastPage = Number(meta.readBigUInt64LE(LAST_PAGE_AT));
  const usedPages = usedPagesOf(meta, lastPage);
  const isSound = isPowerOfTwo(pageBytes) && pageBytes <= PAGE_BYTES_MAX;
  const transaction = meta.readBigUInt64LE(TRANSACTION_AT);
  return isSound ? { pageBytes, usedPages, lastPage, transaction } : null;
}

/** Null if that cannot be. */
function usedPagesOf(meta: Bytes, lastPage: number): number | null {
  let used = META_PAGES;
  for (let tree = 0; tree < TREES; tree++) {
    const at = TREES_AT + tree * TREE_BYTES;
    const root = meta.readBigUInt64LE(at + ROOT_AT);
    if (root !== NO_ROOT && (root < META_PAGES || root > lastPage)) return null;
    // Branches, leaves, and pages of large values.
    for (const kind of [0, 1, 2]) used += Number(meta.readBigUInt64LE(at + COUNTS_AT + 8 * kind));
  }
  return used <= lastPage + 1 ? used : null;
}

function isPowerOfTwo(number: number): boolean {
  return number > 0 && (number & (number - 1)) === 0;
}
