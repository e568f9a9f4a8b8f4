import { existsSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { KEY_BYTES_MAX, key, SPACE } from "../../base/keys.ts";
import { GIB, MIB } from "../../base/limits.ts";
import { freeBytes } from "./disk-full.ts";
import { syncFolder } from "./sync-folder.ts";

/** The part of lmdb that the store stands on. */
export type Lmdb = Pick<
  RootDatabase<Bytes, Bytes>,
  | "get"
  | "getRange"
  | "putSync"
  | "removeSync"
  | "transaction"
  | "committed"
  | "resetReadTxn"
  | "close"
>;

/** Keys of `KEY_BYTES_MAX` need pages of at least this size. It cannot be changed later. */
const PAGE_BYTES = 8_192;
/** Address space, not memory or disk. lmdb maps more when the data outgrows it. */
const MAP_BYTES_AT_FIRST = 16 * GIB;
const FIRST_BYTES = MIB;
/** Nothing is ever stored under this key. */
const NOTHING = key(SPACE.engine, "nothing");

/** Opens an environment in which a commit that resolves is on the disk, and proves that it is so. */
export async function openLmdb(folder: string): Promise<RootDatabase<Bytes, Bytes>> {
  await checkRoom(folder);
  const lmdb = open<Bytes, Bytes>({
    path: folder,
    noSubdir: false,
    // The default acknowledges before the flush.
    overlappingSync: false,
    separateFlushed: true,
    encoding: "binary",
    encoder: { encode: (value: Bytes) => value, decode: copyOut },
    keyEncoding: "binary",
    cache: false,
    compression: false,
    pageSize: PAGE_BYTES,
    mapSize: MAP_BYTES_AT_FIRST,
  });
  try {
    await proveDurable(lmdb);
    // lmdb flushes its files, but not the folder that names them.
    await syncFolder(folder);
  } catch (error) {
    await lmdb.close();
    throw error;
  }
  return lmdb;
}

/** Without room for its first files lmdb would not fail: it would take the process down. */
async function checkRoom(folder: string): Promise<void> {
  if (existsSync(join(folder, "data.mdb")) || (await freeBytes(folder)) >= FIRST_BYTES) return;
  throw new Error(`no space is left for ${folder}`);
}

/**
 * A copy in Node's own pool, at half the cost of one that lmdb makes. The next read overwrites
 * `shared`, and only its `length` property, not its true length, is that of the value.
 */
function copyOut(shared: Bytes): Bytes {
  return Buffer.from(shared.subarray(0, shared.length));
}

async function proveDurable(lmdb: RootDatabase<Bytes, Bytes>): Promise<void> {
  const { pageSize } = lmdb.getStats() as { pageSize: number };
  if (pageSize !== PAGE_BYTES) {
    throw new Error(`the store has pages of ${pageSize} bytes, too small for ${KEY_BYTES_MAX}`);
  }
  const committed: Promise<boolean> & { flushed?: unknown } = lmdb.remove(NOTHING);
  await committed.catch(throwReason);
  if (committed.flushed !== committed) {
    throw new Error("this version of lmdb acknowledges commits before they are on the disk");
  }
}

/** lmdb gives the reason for a failed commit in a second promise, which nobody else handles. */
export async function throwReason(error: Error & { commitError?: Promise<never> }): Promise<never> {
  await error.commitError;
  throw error;
}
