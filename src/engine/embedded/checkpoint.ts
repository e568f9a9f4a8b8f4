import { randomBytes } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { keyOf } from "../sorted-items.ts";
import { isDiskFull } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";
import { InTime } from "./in-time.ts";
import { type Lmdb, throwReason } from "./lmdb.ts";
import { type Cell, type Memtable, valueIn } from "./memtable.ts";
import type { SealedRecords } from "./sealed-records.ts";
import type { WalSecret } from "./wal-groups.ts";

/** What is put into LMDB at one go, at most. */
export interface Steps {
  readonly recordsMax: number;
  readonly bytesMax: number;
}

/** Nobody is served during a step. */
export const SHORT_STEPS: Steps = { recordsMax: 512, bytesMax: 512 * KIB };
export const LONG_STEPS: Steps = { recordsMax: 50_000, bytesMax: 32 * MIB };
/** On a full disk: a step copies a page for each record at worst, and frees the old ones afterwards. */
const TIGHT_STEPS: Steps = { recordsMax: 64, bytesMax: 128 * KIB };
const MILESTONE = key(SPACE.engine, "milestone");
const WAL_SECRET = key(SPACE.engine, "log-secret");

/** The same as long as the store lives. */
export async function walSecretOf(lmdb: Lmdb, records: SealedRecords): Promise<WalSecret> {
  let found = records.get(WAL_SECRET);
  if (found === undefined) {
    // With another one, what is in the WAL would not be understood.
    records.proveMisses();
    const made = randomBytes(8);
    await commit(lmdb, () => records.put(WAL_SECRET, made));
    lmdb.resetReadTxn();
    found = made;
  }
  return { mark: found.readUInt32LE(0), seed: found.readUInt32LE(4) };
}

/** How far LMDB has got. */
export interface Milestone {
  /** The last group of which LMDB has everything. */
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
 * Puts records into LMDB, and last of all how far it has got: whoever does not come to the end of it
 * begins again from the WAL. A record is left out if the WAL has a later one that takes its place.
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
  const inTime = new InTime();
  let done = false;
  // Most records that are made and deleted again soon have keys behind all others of their kind.
  for (const space of memtable.spaces()) records.findEnd(space);
  const step = () => {
    done = putSome(records, cells, steps, isReplaced);
    if (done) records.put(MILESTONE, encodeMilestone(milestone));
  };
  while (!done) {
    await commit(lmdb, step, inTime);
    lmdb.resetReadTxn();
  }
  records.lookAnew();
}

/** The same, on a full disk with the help of the reserve. False if even so there is no room for it. */
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

/** Whether LMDB could not write for want of space, and provably wrote nothing: then life goes on. */
export async function isMerelyFull(lmdb: Lmdb, folder: string, error: unknown): Promise<boolean> {
  try {
    if (!(await isDiskFull(error, folder))) return false;
    // LMDB writes the new root last. If just that had failed, it would begin no other transaction.
    await commit(lmdb, () => {});
    return true;
  } catch {
    return false;
  }
}

/** True if these were the last. */
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

/** Runs in LMDB's write transaction, which is committed when `run` returns. */
export async function commit(lmdb: Lmdb, run: () => void, inTime = new InTime()): Promise<void> {
  let failure: unknown = null;
  const committed = lmdb.transaction(() => {
    // LMDB makes two promises of one commit. A failure of this one would go unhandled.
    lmdb.committed.then(ignore, ignore);
    try {
      run();
    } catch (error) {
      failure = error;
      throw error;
    }
  });
  try {
    await inTime.watch(committed.catch(throwReason));
  } catch (error) {
    throw failure ?? error;
  }
}

function ignore(): void {}
