import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { KEY_BYTES_MAX, key, SPACE } from "../../base/keys.ts";
import { GIB, MIB } from "../../base/limits.ts";
import { DATABASE_FILE, DATABASE_PAGE_BYTES, lostRecords } from "./database-file.ts";
import { freeBytes } from "./disk-full.ts";
import { PRIVATE_FILE_MODE } from "./private-folder.ts";
import { syncFile, syncFolder } from "./sync-folder.ts";

/** The part of the lmdb package that the store uses. */
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

/** Address space, not memory or disk. LMDB maps more when the data outgrow it. */
const MAP_BYTES_AT_FIRST = 16 * GIB;
const FIRST_BYTES = MIB;
/** Begins with a dot, so that it does not count as data. */
const DRAFT_FOLDER = ".new-database";
/** Nothing is ever stored under this key. */
const NOTHING = key(SPACE.engine, "nothing");

/** Opens the database of a folder, and checks that commits resolve only once they are durable. */
export async function openLmdb(folder: string): Promise<RootDatabase<Bytes, Bytes>> {
  if (!existsSync(join(folder, DATABASE_FILE))) await makeDatabase(folder);
  let lmdb: RootDatabase<Bytes, Bytes> | null = null;
  try {
    lmdb = openIn(folder);
    await proveDurable(lmdb);
    commitOneAtATime(lmdb);
    return lmdb;
  } catch (error) {
    await lmdb?.close();
    throw isLmdbDamage(error) ? damagedIn(folder, error) : error;
  }
}

/**
 * Lets a transaction begin only once the one before it has ended. lmdb would commit both together;
 * if that fails on a full disk, one of its promises never settles, and others reject unhandled.
 */
function commitOneAtATime(lmdb: RootDatabase<Bytes, Bytes>): void {
  const transaction = lmdb.transaction.bind(lmdb);
  let last: Promise<unknown> = Promise.resolve();
  lmdb.transaction = <T>(run: () => T): Promise<T> => {
    const committed = last.then(() => transaction(run));
    last = committed.catch(throwReason).catch(() => {});
    return committed;
  };
}

/** An option that lmdb takes but does not declare. */
const FILE_MODE: object = { permissionsMode: PRIVATE_FILE_MODE };

/**
 * Makes an empty database in a separate folder, and moves it into place once it is on the disk, so
 * that a failure before that never leaves what looks like a damaged database.
 */
async function makeDatabase(folder: string): Promise<void> {
  const draft = join(folder, DRAFT_FOLDER);
  await rm(draft, { recursive: true, force: true });
  await checkRoom(folder);
  await mkdir(draft, { mode: 0o700 });
  const lmdb = openIn(draft);
  try {
    await proveDurable(lmdb);
  } finally {
    await lmdb.close();
  }
  // LMDB syncs a new file only with its first record, and the folder never.
  await syncFile(join(draft, DATABASE_FILE));
  await rename(join(draft, DATABASE_FILE), join(folder, DATABASE_FILE));
  await syncFolder(folder);
  await rm(draft, { recursive: true, force: true });
}

function openIn(folder: string): RootDatabase<Bytes, Bytes> {
  return open<Bytes, Bytes>({
    path: folder,
    noSubdir: false,
    // With the default, commits resolve before the flush.
    overlappingSync: false,
    separateFlushed: true,
    encoding: "binary",
    encoder: { encode: (value: Bytes) => value, decode: copyOut },
    keyEncoding: "binary",
    cache: false,
    compression: false,
    pageSize: DATABASE_PAGE_BYTES,
    ...FILE_MODE,
    mapSize: MAP_BYTES_AT_FIRST,
  });
}

/** LMDB's code for every read after one that found damage, until the transaction is reset. */
const BAD_TXN = -30_782;

/** Whether LMDB reports a damaged file: its codes from "page not found" to "not an LMDB file". */
export function isLmdbDamage(error: unknown): error is Error {
  if (!(error instanceof Error && "code" in error && typeof error.code === "number")) return false;
  return (error.code >= -30_797 && error.code <= -30_793) || error.code === BAD_TXN;
}

function damagedIn(folder: string, { message }: Error): Error {
  return lostRecords(join(folder, DATABASE_FILE), `is damaged (${message})`);
}

/** Throws if there is no room for LMDB's first files, which would crash the process. */
async function checkRoom(folder: string): Promise<void> {
  if ((await freeBytes(folder)) >= FIRST_BYTES) return;
  throw new Error(`no space is left for ${folder}`);
}

/**
 * Copies a value into Node's buffer pool, at half the cost of a copy by lmdb. The next read
 * overwrites `shared`, and only its `length` property is that of the value, not its true length.
 */
function copyOut(shared: Bytes): Bytes {
  return Buffer.from(shared.subarray(0, shared.length));
}

async function proveDurable(lmdb: RootDatabase<Bytes, Bytes>): Promise<void> {
  const { pageSize } = lmdb.getStats() as { pageSize: number };
  if (pageSize !== DATABASE_PAGE_BYTES) {
    throw new Error(`the store has pages of ${pageSize} bytes, too small for ${KEY_BYTES_MAX}`);
  }
  const committed: Promise<boolean> & { flushed?: unknown } = lmdb.remove(NOTHING);
  await committed.catch(throwReason);
  if (committed.flushed !== committed) {
    throw new Error("this version of lmdb acknowledges commits before they are on the disk");
  }
}

/** Throws the reason for a failed commit, which lmdb gives in a second promise. */
export async function throwReason(error: Error & { commitError?: Promise<never> }): Promise<never> {
  await error.commitError;
  throw error;
}
