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

/** What a start does about damage. */
export interface WalOptions {
  /** Goes on without acknowledged writes that the WAL has lost. */
  readonly acceptDataLoss: boolean;
  /** Takes a line about what was left out. */
  readonly tell: (line: string) => void;
  readonly onDamage: OnDamage;
}

export interface RecoverWal extends Partial<WalOptions> {
  readonly lmdb: Lmdb;
  readonly wal: WalFiles;
  /** Records go from the WAL to LMDB when they take so much of it. */
  readonly walBytesEnough: number;
  readonly folder: string;
  /** Null: nothing is kept for a full disk. */
  readonly space?: DiskSpace | null;
}

export interface RecoveredWal {
  readonly wal: Wal;
  /** Of everything that was found. */
  readonly milestone: Milestone;
  /** What LMDB has no room for on a full disk, and gets later; null if it has everything. */
  readonly unfinished: Memtable | null;
}

/**
 * Brings what an earlier process has left in the WAL into LMDB, and opens the WAL to be written to.
 * Where the disk is too full for that, the WAL goes on where it ends. Throws a `WalLossError` before anything is changed if acknowledged writes are missing.
 */
export async function recoverWal(setup: RecoverWal): Promise<RecoveredWal> {
  const { lmdb } = setup;
  const records = new SealedRecords(lmdb);
  const secret = await walSecretOf(lmdb, records);
  const note = readWalNote(records);
  const before = readMilestone(records);
  const findings = checkWal(secret, before.group, note, setup.wal.found);
  judge(findings, setup);
  const { milestone, unfinished } = await checkpointFound(setup, records, findings, before);
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
  await setup.space?.keepForLog(wal.capacity);
  return { wal, milestone, unfinished };
}

/** Throws if acknowledged writes are missing, unless that is accepted. */
function judge(findings: WalFindings, { acceptDataLoss, tell }: RecoverWal): void {
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
  records: SealedRecords,
  findings: WalFindings,
  before: Milestone,
): Promise<Omit<RecoveredWal, "wal">> {
  const { groups, lastNumber } = findings;
  const memtable = new Memtable();
  let milestone = before;
  for (const group of groups) {
    for (const record of group.records) replay(memtable, record);
    milestone = { group: group.number, lastStamp: group.lastStamp };
  }
  // What is left of lost groups must never count as newer than what comes next.
  if (isLossy(findings)) milestone = { ...milestone, group: lastNumber };
  const isSettled =
    milestone === before ||
    (await checkpointIfRoom(setup, records, memtable, milestone, LONG_STEPS));
  if (!isSettled && findings.end !== null && !isLossy(findings)) {
    return { milestone, unfinished: memtable };
  }
  memtable.release();
  // A log that has lost something is begun anew, which needs LMDB to have the rest.
  if (!isSettled) throw fullError();
  return { milestone, unfinished: null };
}

function replay(memtable: Memtable, { key, value, isAppend }: LoggedRecord): void {
  if (isAppend && value !== null) memtable.append(nameOf(key), value, 0, 0);
  else memtable.set(nameOf(key), value, 0, 0);
}

function generationsOf({ headers: [first, second] }: WalFindings): [number, number] {
  return [first?.generation ?? 0, second?.generation ?? 0];
}

/** Begins both files anew, and then notes them in the database, so that it never names files that are missing. */
async function remakeWal(
  secret: WalSecret,
  files: readonly [WalFile, WalFile],
  generations: readonly [number, number],
  group: number,
): Promise<WalNote> {
  await makeWal(secret, files, generations, group + 1);
  return { generations, sizes: [files[0].capacity, files[1].capacity], group };
}
