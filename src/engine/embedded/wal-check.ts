import type { Bytes } from "../../base/bytes.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { StoreError } from "../../store/store.ts";
import type { LogEnd } from "./wal.ts";
import { decodeGroup, type LoggedGroup, numberAt, type WalSecret } from "./wal-groups.ts";
import { decodeWalHeader, WAL_HEADER_BYTES, type WalHeader } from "./wal-header.ts";

/** A file of the write-ahead log as it was found at the start. */
export interface FoundWalFile {
  readonly path: string;
  /** Null if it cannot be read, and `problem` says why. */
  readonly bytes: Bytes | null;
  readonly problem: string | null;
}

/**
 * What the database knows about its write-ahead log. It is written when a file is begun and a moment
 * after groups were, so the WAL may be further than this, and never less far.
 */
export interface WalNote {
  /** Of each file. */
  readonly generations: readonly [number, number];
  /** How long each file is, at least. */
  readonly sizes: readonly [number, number];
  /** The last group that is known to be durable. */
  readonly group: number;
}

export interface WalFindings {
  /** Groups that the database does not have, in order, without a gap. */
  readonly groups: readonly LoggedGroup[];
  /** What shows that acknowledged writes are missing; empty if nothing does. */
  readonly losses: readonly string[];
  /** A group that was begun and is not whole, behind the last one; null if there is none. */
  readonly tornGroup: number | null;
  /** The highest group number that was found or noted. */
  readonly lastNumber: number;
  readonly headers: readonly (WalHeader | null)[];
  /** Where the last of the groups ends; null if there are none. */
  readonly end: LogEnd | null;
}

/** Acknowledged writes are missing in the write-ahead log. */
export class WalLossError extends StoreError {
  constructor(losses: readonly string[]) {
    super("damaged", `the write-ahead log has lost acknowledged writes: ${losses.join("; ")}`);
  }
}

/**
 * Compares the files with what the database knows of them, and finds the groups behind `through`, the
 * last group that the database has. `note` is null if no log was ever made for this database.
 */
export function checkWal(
  secret: WalSecret,
  through: number,
  note: WalNote | null,
  files: readonly FoundWalFile[],
): WalFindings {
  if (note === null) {
    const headers = [null, null];
    const nothing = { groups: [], losses: [], tornGroup: null, end: null };
    return { ...nothing, lastNumber: through, headers };
  }
  const headers = files.map(({ bytes }) => bytes && decodeWalHeader(secret, bytes));
  const losses = files.flatMap((file, at) => {
    const problem = problemOf(file, headers[at] ?? null, note, at);
    return problem === null ? [] : [`${file.path} ${problem}`];
  });
  losses.push(...problemOfPair(files, headers));
  const rows = files.map(({ bytes }) => rowOfGroups(secret, bytes ?? NO_BYTES));
  const found = rows.flatMap(({ groups }) => groups).filter(({ number }) => number > through);
  found.sort((a, b) => a.number - b.number);
  const groups = found.filter(({ number }, at) => number === through + 1 + at);
  const last = groups.at(-1)?.number ?? through;
  const lastNumber = Math.max(
    last,
    note.group,
    ...headers.map((header) => (header?.firstGroup ?? 0) - 1),
    ...rows.map(({ lastBehind }) => lastBehind),
  );
  if (lastNumber > last) {
    losses.push(
      `it ends with group ${last}, but group ${lastNumber} was written ` +
        "(groups between them are damaged or gone)",
    );
  }
  const isTorn = losses.length === 0 && rows.some(({ torn }) => torn === last + 1);
  const end = groups.length === 0 ? null : endOf(rows, last);
  return { groups, losses, tornGroup: isTorn ? last + 1 : null, lastNumber, headers, end };
}

/** Where the group with this number ends, which is the last of one of the files. */
function endOf(rows: readonly Row[], last: number): LogEnd | null {
  const file = rows.findIndex(({ groups }) => groups.at(-1)?.number === last);
  return file < 0 ? null : { file: file === 0 ? 0 : 1, position: rows[file]?.end ?? 0 };
}

const NO_BYTES: Bytes = Buffer.alloc(0);

function problemOf(
  { bytes, problem }: FoundWalFile,
  header: WalHeader | null,
  { generations, sizes }: WalNote,
  at: number,
): string | null {
  if (bytes === null) return problem;
  const size = sizes[at] ?? 0;
  if (bytes.length < size) return `is cut short (${bytes.length} of ${size} bytes)`;
  if (header === null) return "does not begin as a log file of this data folder";
  const generation = generations[at] ?? 0;
  if (header.generation >= generation) return null;
  return `is an older copy (generation ${header.generation}, ${generation} is expected)`;
}

/** The files are begun in turn, so that their generations follow each other. */
function problemOfPair(
  [first, second]: readonly FoundWalFile[],
  [one, other]: readonly (WalHeader | null)[],
): string[] {
  if (!first || !second || !one || !other) return [];
  if (Math.abs(one.generation - other.generation) === 1) return [];
  const older = one.generation < other.generation ? first : second;
  return [`${older.path} is an older copy: the files do not belong together`];
}

interface Row {
  readonly groups: readonly LoggedGroup[];
  /** Where they end. */
  readonly end: number;
  /** The group that was begun behind them and is not whole. */
  readonly torn: number | null;
  /** The highest number of a whole group that lies behind them; 0 if there is none. */
  readonly lastBehind: number;
}

/**
 * The groups from the beginning of a file on, up to the one that was being written when the process
 * ended, or to what is left from an earlier use of the file.
 */
function rowOfGroups(secret: WalSecret, bytes: Bytes): Row {
  const groups: LoggedGroup[] = [];
  let last = 0;
  let at = WAL_HEADER_BYTES;
  for (;;) {
    const group = decodeGroup(secret, bytes, at);
    if (group === null || (last > 0 && group.number !== last + 1)) break;
    groups.push(group);
    last = group.number;
    at += group.bytesOnDisk;
  }
  const torn = numberAt(secret, bytes, at);
  return { groups, end: at, torn, lastBehind: lastBehind(secret, bytes, at) };
}

/**
 * Groups are written one after the other, so a whole group behind a broken one shows that the broken
 * one was durable. Groups begin on pages.
 */
function lastBehind(secret: WalSecret, bytes: Bytes, from: number): number {
  let last = 0;
  for (let at = from; at < bytes.length; at += PAGE_BYTES) {
    const group = decodeGroup(secret, bytes, at);
    if (group !== null && group.number > last) last = group.number;
  }
  return last;
}
