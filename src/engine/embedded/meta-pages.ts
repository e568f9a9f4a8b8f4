import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";

/** What a meta page says about LMDB's file. */
export interface Meta {
  readonly pageBytes: number;
  /** Pages that hold records or the list of free pages. */
  readonly usedPages: number;
  /** The last page of the file. Free pages before it may never have been written. */
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
/** The tree of free pages and the tree of records. */
const TREES = 2;
const [PAGE_BYTES_AT, COUNTS_AT, ROOT_AT] = [0, 8, 40];
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
const META_PAGES = 2;
const PAGE_BYTES_MAX = 65_536;

/**
 * Reads the newer of the two meta pages at the beginning of the file, which is the one that LMDB
 * uses; null if one is no meta page. The older one need not be sound: a failed write may have mixed
 * it.
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
  /** Null if the numbers on the page contradict each other. */
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

/** The pages that both trees use; null if the numbers contradict each other. */
function usedPagesOf(meta: Bytes, lastPage: number): number | null {
  let used = META_PAGES;
  for (let tree = 0; tree < TREES; tree++) {
    const at = TREES_AT + tree * TREE_BYTES;
    const root = meta.readBigUInt64LE(at + ROOT_AT);
    if (root !== NO_ROOT && (root < META_PAGES || root > lastPage)) return null;
    // Branch, leaf and overflow pages.
    for (const kind of [0, 1, 2]) used += Number(meta.readBigUInt64LE(at + COUNTS_AT + 8 * kind));
  }
  return used <= lastPage + 1 ? used : null;
}

function isPowerOfTwo(number: number): boolean {
  return number > 0 && (number & (number - 1)) === 0;
}
