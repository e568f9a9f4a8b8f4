import { randomBytes } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { keyOf } from "../sorted-items.ts";
import { isDiskFull } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";
import { type Lmdb, throwReason } from "./lmdb.ts";
import { type Cell, type Memtable, valueIn } from "./memtable.ts";
import type { SealedRecords } from "./sealed-records.ts";
import type { WalSecret } from "./wal-groups.ts";
import { WriteWatchdog } from "./write-watchdog.ts";

/** Limits for one LMDB transaction of a checkpoint. */
export interface Steps {
  readonly recordsMax: number;
  readonly bytesMax: number;
}

/** Short, because a step blocks the event loop. */
export const SHORT_STEPS: Steps = { recordsMax: 512, bytesMax: 512 * KIB };
/** For a start or a stop, when no client is waiting. */
export const LONG_STEPS: Steps = { recordsMax: 50_000, bytesMax: 32 * MIB };
/** For a full disk: a step copies up to a page per record before it frees the old pages. */
const TIGHT_STEPS: Steps = { recordsMax: 64, bytesMax: 128 * KIB };
const MILESTONE = key(SPACE.engine, "milestone");
const WAL_SECRET = key(SPACE.engine, "log-secret");

/** Reads the secret of this store's WAL; makes it the first time. */
export async function walSecretOf(lmdb: Lmdb, records: SealedRecords): Promise<WalSecret> {
  let found = records.get(WAL_SECRET);
  if (found === undefined) {
    // A new secret would make an existing WAL unreadable.
    records.proveMisses();
    const made = randomBytes(8);
    await commit(lmdb, () => records.put(WAL_SECRET, made));
    lmdb.resetReadTxn();
    found = made;
  }
  return { mark: found.readUInt32LE(0), seed: found.readUInt32LE(4) };
}

/** How far checkpoints have got: all groups up to this one are in LMDB. */
export interface Milestone {
  readonly group: number;
  readonly lastStamp: bigint;
}

export function readMilestone(records: SealedRecords): Milestone {
  const found = records.get(MILESTONE);
  if (found === undefined) {
    records.proveMisses();
    return { group: 0, lastStamp: 0n };
  }
  return { group: Number(found.readBigUInt64BE(0)), lastStamp: found.readBigUInt64BE(8) };
}

/**
 * Copies the records of a memtable into LMDB. Writes the milestone last, so that recovery repeats
 * an interrupted checkpoint from the WAL. Skips a record that a later one in the WAL replaces.
 */
async function checkpoint(
  lmdb: Lmdb,
  records: SealedRecords,
  memtable: Memtable,
  milestone: Milestone,
  steps: Steps,
  isReplaced: (name: string) => boolean = () => false,
): Promise<void> {
  const cells = memtable.cells()[Symbol.iterator]();
  const watchdog = new WriteWatchdog();
  let done = false;
  // Short-lived records mostly have the last keys of their space: removing those then costs
  // nothing.
  for (const space of memtable.spaces()) records.findEnd(space);
  const step = () => {
    done = putSome(records, cells, steps, isReplaced);
    if (done) records.put(MILESTONE, encodeMilestone(milestone));
  };
  while (!done) {
    await commit(lmdb, step, watchdog);
    lmdb.resetReadTxn();
  }
  records.lookAnew();
}

/** Runs a checkpoint, on a full disk with the help of the reserve. False if there is no room. */
export async function checkpointIfRoom(
  { lmdb, folder, space }: { lmdb: Lmdb; folder: string; space?: DiskSpace | null },
  records: SealedRecords,
  memtable: Memtable,
  milestone: Milestone,
  steps: Steps,
  isReplaced?: (name: string) => boolean,
): Promise<boolean> {
  let next = space?.mayGrow === false ? TIGHT_STEPS : steps;
  for (;;) {
    try {
      await checkpoint(lmdb, records, memtable, milestone, next, isReplaced);
      return true;
    } catch (error) {
      if (!(await isMerelyFull(lmdb, folder, error))) throw error;
      space?.noteFull();
      if (!(await space?.giveUp())) return false;
      next = TIGHT_STEPS;
    }
  }
}

/** Whether a commit failed on a full disk and provably wrote nothing: then the store goes on. */
export async function isMerelyFull(lmdb: Lmdb, folder: string, error: unknown): Promise<boolean> {
  try {
    if (!(await isDiskFull(error, folder))) return false;
    // LMDB writes the new root last. If that write had failed, no further transaction would begin.
    await commit(lmdb, () => {});
    return true;
  } catch {
    return false;
  }
}

/** Puts the next records into LMDB, up to the limits of a step. True if none are left. */
function putSome(
  records: SealedRecords,
  cells: Iterator<Cell>,
  { recordsMax, bytesMax }: Steps,
  isReplaced: (name: string) => boolean,
): boolean {
  let bytes = 0;
  for (let count = 0; count < recordsMax && bytes < bytesMax; count++) {
    const next = cells.next();
    if (next.done === true) return true;
    const { name } = next.value;
    if (isReplaced(name)) continue;
    const value = valueIn(next.value);
    if (value === null) records.remove(keyOf(name));
    else records.put(keyOf(name), value);
    bytes += name.length + (value?.length ?? 0);
  }
  return false;
}

function encodeMilestone({ group, lastStamp }: Milestone): Bytes {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeBigUInt64BE(BigInt(group), 0);
  bytes.writeBigUInt64BE(lastStamp, 8);
  return bytes;
}

/** Runs `run` in an LMDB write transaction, and resolves once that is committed. */
export async function commit(
  lmdb: Lmdb,
  run: () => void,
  watchdog = new WriteWatchdog(),
): Promise<void> {
  let failure: unknown = null;
  const committed = lmdb.transaction(() => {
    // lmdb makes two promises for a commit. A failure of this one would go unhandled.
    lmdb.committed.then(ignore, ignore);
    try {
      run();
    } catch (error) {
      failure = error;
      throw error;
    }
  });
  try {
    await watchdog.watch(committed.catch(throwReason));
  } catch (error) {
    throw failure ?? error;
  }
}

function ignore(): void {}
