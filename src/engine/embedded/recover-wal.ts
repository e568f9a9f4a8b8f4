import type { Slabs } from "../../machine/slabs.ts";
import type { OnDamage } from "../../store/store.ts";
import { nameOf } from "../sorted-items.ts";
import {
  checkpointIfRoom,
  LONG_STEPS,
  type Milestone,
  readMilestone,
  walSecretOf,
} from "./checkpoint.ts";
import { fullError } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";
import type { Lmdb } from "./lmdb.ts";
import { Memtable } from "./memtable.ts";
import { SealedRecords } from "./sealed-records.ts";
import { Wal } from "./wal.ts";
import { checkWal, type WalFindings, WalLossError, type WalNote } from "./wal-check.ts";
import type { WalFile, WalFiles } from "./wal-file.ts";
import type { LoggedRecord, WalSecret } from "./wal-groups.ts";
import { makeWal } from "./wal-header.ts";
import { readWalNote, writeWalNote } from "./wal-notes.ts";

/** How a start treats damage. */
export interface WalOptions {
  /** Start even if the WAL has lost acknowledged writes. */
  readonly acceptDataLoss: boolean;
  /** Reports, in one line, what recovery left out. */
  readonly tell: (line: string) => void;
  readonly onDamage: OnDamage;
}

export interface RecoverWal extends Partial<WalOptions> {
  readonly lmdb: Lmdb;
  readonly wal: WalFiles;
  /** Bytes in a WAL file that start a checkpoint. */
  readonly walBytesEnough: number;
  readonly folder: string;
  /** Null: no space is reserved for a full disk. */
  readonly space?: DiskSpace | null;
}

export interface RecoveredWal {
  readonly wal: Wal;
  /** The last group that was found, and its stamp. */
  readonly milestone: Milestone;
  /** Records that LMDB has no room for on a full disk, to be checkpointed later; null if none. */
  readonly unfinished: Memtable | null;
}

/**
 * Copies what an earlier process left in the WAL into LMDB, and opens the WAL for writing. If the
 * disk is too full for that, the WAL continues at its end, and the rest is in a memtable of
 * `slabs`. Throws a `WalLossError` before changing anything if acknowledged writes are missing.
 */
export async function recoverWal(setup: RecoverWal, slabs: Slabs): Promise<RecoveredWal> {
  const { lmdb } = setup;
  const records = new SealedRecords(lmdb);
  const secret = await walSecretOf(lmdb, records);
  const note = readWalNote(records);
  const before = readMilestone(records);
  const findings = checkWal(secret, before.group, note, setup.wal.found);
  requireNoLoss(findings, setup);
  const { milestone, unfinished } = await checkpointFound(setup, slabs, records, findings, before);
  const files = await setup.wal.open();
  let generations = generationsOf(findings);
  if (note === null || isLossy(findings)) {
    const last = Math.max(...generations, ...(note?.generations ?? []));
    generations = [last + 1, last + 2];
    const made = await remakeWal(secret, files, generations, milestone.group);
    await writeWalNote(lmdb, records, made);
  }
  const end = unfinished === null ? null : findings.end;
  const wal = new Wal(files, secret, setup.walBytesEnough, generations, end);
  await setup.space?.reserveForWal(wal.capacity);
  return { wal, milestone, unfinished };
}

/** Throws if acknowledged writes are missing, unless the user accepts that. */
function requireNoLoss(findings: WalFindings, { acceptDataLoss, tell }: RecoverWal): void {
  if (isLossy(findings)) {
    const loss = new WalLossError(findings.losses);
    if (acceptDataLoss !== true) throw loss;
    tell?.(`${loss.message}. They are given up, as --acceptDataLoss asks for`);
  } else if (acceptDataLoss === true) {
    tell?.("--acceptDataLoss changes nothing: no acknowledged write is missing");
  }
  if (findings.tornGroup === null) return;
  tell?.(
    `the last group of the write-ahead log (number ${findings.tornGroup}) is not whole, and is left ` +
      "out: most likely the power failed while it was written, before it was acknowledged",
  );
}

function isLossy({ losses }: WalFindings): boolean {
  return losses.length > 0;
}

async function checkpointFound(
  setup: RecoverWal,
  slabs: Slabs,
  records: SealedRecords,
  findings: WalFindings,
  before: Milestone,
): Promise<Omit<RecoveredWal, "wal">> {
  const { groups, lastNumber } = findings;
  const memtable = new Memtable(slabs);
  let milestone = before;
  for (const group of groups) {
    for (const record of group.records) replay(memtable, record);
    milestone = { group: group.number, lastStamp: group.lastStamp };
  }
  // Remains of lost groups must never count as newer than the next group.
  if (isLossy(findings)) milestone = { ...milestone, group: lastNumber };
  const isCheckpointed =
    milestone === before ||
    (await checkpointIfRoom(setup, records, memtable, milestone, LONG_STEPS));
  if (!isCheckpointed && findings.end !== null && !isLossy(findings)) {
    return { milestone, unfinished: memtable };
  }
  memtable.release();
  // A WAL with losses is made anew, which requires that LMDB has the rest.
  if (!isCheckpointed) throw fullError();
  return { milestone, unfinished: null };
}

function replay(memtable: Memtable, { key, value, isAppend }: LoggedRecord): void {
  if (isAppend && value !== null) memtable.append(nameOf(key), value, 0, 0);
  else memtable.set(nameOf(key), value, 0, 0);
}

function generationsOf({ headers: [first, second] }: WalFindings): [number, number] {
  return [first?.generation ?? 0, second?.generation ?? 0];
}

/** Makes both files anew. The caller notes them afterwards, so that no note names missing files. */
async function remakeWal(
  secret: WalSecret,
  files: readonly [WalFile, WalFile],
  generations: readonly [number, number],
  group: number,
): Promise<WalNote> {
  await makeWal(secret, files, generations, group + 1);
  return { generations, sizes: [files[0].capacity, files[1].capacity], group };
}
