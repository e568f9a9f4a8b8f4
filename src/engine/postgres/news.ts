import type { Clock, Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import { readBytea } from "./bytea.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Row } from "./driver.ts";
import type { ChangedKey, RecordCache } from "./record-cache.ts";
import { CHANGES_MAX, READ_CHANGES } from "./statements.ts";
import type { Step } from "./wire.ts";

/** What the database says of its last commit. */
export interface LastCommit {
  readonly number: number;
  readonly stamp: Stamp;
  /** The time at which bodies run: the database's, and never before that of an earlier commit. */
  readonly nowMs: Instant;
}

/** Whose time counts: the database's, unless a test has a clock of its own. */
export interface TimeSource {
  readonly database: DatabaseClock;
  readonly test: Clock | null;
}

export function readLastCommit(
  [number, stamp, milliseconds]: Row,
  databaseMs: string | null | undefined,
  { database, test }: TimeSource,
): LastCommit {
  database.hear(Number(databaseMs));
  const nowMs = Math.max(test?.now() ?? Number(databaseMs), Number(milliseconds));
  return { number: Number(number), stamp: BigInt(stamp as string), nowMs };
}

/** No commit comes after this one. */
const NEVER = "9223372036854775807";

/** Asks for what commits have changed since the cache's. */
export function askForChanges({ number }: RecordCache): Step {
  return { statement: READ_CHANGES, values: [number === null ? NEVER : `${number}`] };
}

/** Advances the cache to a commit, by rows of `READ_CHANGES`. Forgets all if some are missing. */
export function applyChanges(
  cache: RecordCache,
  { number, stamp }: Pick<LastCommit, "number" | "stamp">,
  rows: readonly Row[],
): void {
  cache.hearStamp(stamp);
  if (cache.number === null || number - cache.number > CHANGES_MAX) {
    if (cache.number === null || number > cache.number) cache.forget(number);
    return;
  }
  for (let at = 0; at < rows.length; ) {
    const commit = Number(rows[at]?.[0]);
    const isAll = rows[at]?.[1] === "t";
    const changed: ChangedKey[] = [];
    for (; at < rows.length && Number(rows[at]?.[0]) === commit; at++) {
      const [, , key, length, value] = rows[at] as Row;
      if (key != null) changed.push({ key: readBytea(key), value: changedValue(length, value) });
    }
    if (commit <= cache.number) continue;
    // A commit that nobody told of: the ring is shorter than this front end was away.
    if (isAll || commit !== cache.number + 1) cache.forget(commit);
    else cache.advance(commit, changed);
  }
  if (cache.number < number) cache.forget(number);
}

function changedValue(length: string | null | undefined, value: string | null | undefined) {
  if (length == null) return null;
  return value == null ? undefined : readBytea(value);
}
