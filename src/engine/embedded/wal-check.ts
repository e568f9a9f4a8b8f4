import type { Bytes } from "../../base/bytes.ts";
import { PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { StoreError } from "../../store/store.ts";
import type { FoundWalFile } from "./wal-file.ts";
import { decodeGroup, type LoggedGroup, numberAt, type WalSecret } from "./wal-groups.ts";
import { decodeWalHeader, WAL_HEADER_BYTES, type WalHeader } from "./wal-header.ts";

/**
 * What the database knows about its WAL. It is written after groups are durable, so a WAL may be
 * ahead of its note, and one that is behind it has lost something.
 */
export interface WalNote {
  /** The least generation of each file. */
  readonly generations: readonly [number, number];
  /** The least length of each file. */
  readonly sizes: readonly [number, number];
  /** The last group that is known to be durable. */
  readonly group: number;
}

/** What a check of the WAL files found. */
export interface WalFindings {
  /** Groups that are not in the database yet, in order, without a gap. */
  readonly groups: readonly LoggedGroup[];
  /** Evidence that acknowledged writes are missing; empty if there is none. */
  readonly losses: readonly string[];
  /** The number of an incomplete group right behind the last whole one, or null. */
  readonly tornGroup: number | null;
  /** The highest group number that was found or noted. */
  readonly lastNumber: number;
  readonly headers: readonly (WalHeader | null)[];
  /** Where the last group ends; null if there are no groups. */
  readonly end: WalEnd | null;
}

/** The end of the WAL, where the next group goes. */
export interface WalEnd {
  readonly file: 0 | 1;
  readonly position: number;
}

/** Thrown if acknowledged writes are missing from the WAL. */
export class WalLossError extends StoreError {
  constructor(losses: readonly string[]) {
    super("damaged", `the write-ahead log has lost acknowledged writes: ${losses.join("; ")}`);
  }
}

/**
 * Compares the WAL files with the database's note, and finds the groups after `through`, the last
 * group that is in the database. `note` is null if this database never had a WAL.
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
  const rows = files.map(({ bytes }) => rowOfGroups(secret, bytes ?? NO_BYTES, through));
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

/** Where the group with this number ends. It is the last group of one of the files. */
function endOf(rows: readonly Row[], last: number): WalEnd | null {
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

/** The WAL alternates between its files, so their generations differ by one. */
function problemOfPair(
  [first, second]: readonly FoundWalFile[],
  [one, other]: readonly (WalHeader | null)[],
): string[] {
  if (!first || !second || !one || !other) return [];
  if (Math.abs(one.generation - other.generation) === 1) return [];
  const older = one.generation < other.generation ? first : second;
  return [`${older.path} is an older copy: the files do not belong together`];
}

/** The consecutive groups at the beginning of a file. */
interface Row {
  readonly groups: readonly LoggedGroup[];
  /** Where the groups end. */
  readonly end: number;
  /** The number of an incomplete group right behind them. */
  readonly torn: number | null;
  /** The highest number of a whole group further behind, or `through`. */
  readonly lastBehind: number;
}

/**
 * Reads groups from the beginning of a file, up to one that was being written when the process
 * ended, or up to the remains of an earlier generation.
 */
function rowOfGroups(secret: WalSecret, bytes: Bytes, through: number): Row {
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
  return { groups, end: at, torn, lastBehind: lastBehind(secret, bytes, at, through) };
}

/**
 * The highest number above `through` among whole groups from `from` on, or else `through`. Groups
 * are written in order, so a whole group behind a broken one proves that the broken one was
 * durable. Checksums of groups that are in the database would take most of the time of a start.
 */
function lastBehind(secret: WalSecret, bytes: Bytes, from: number, through: number): number {
  let last = through;
  for (let at = from; at < bytes.length; at += PAGE_BYTES) {
    const number = numberAt(secret, bytes, at);
    if (number === null || number <= last) continue;
    if (decodeGroup(secret, bytes, at) !== null) last = number;
  }
  return last;
}
