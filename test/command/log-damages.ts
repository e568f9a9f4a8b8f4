import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const LOG_NAMES = ["log-0", "log-1"] as const;
export const LOG_PAGE_BYTES = 4_096;

/** Damages a log file; `older` is a folder with an older copy of it. */
export type LogDamage = (path: string, name: string, older: string) => void;

/** Kinds of damage to log files, and the expected message at the next start. */
export const LOG_DAMAGES: readonly [what: string, message: RegExp, damage: LogDamage][] = [
  ["deleted", /log-0 is missing; .*log-1 is missing/, (path) => rmSync(path)],
  ["emptied", /log-0 is cut short \(0 of \d+ bytes\)/, (path) => truncateSync(path, 0)],
  ["cut in half", /log-0 is cut short/, (path) => truncateSync(path, statSync(path).size / 2)],
  ["filled with zeros", /log-0 does not begin as a log file of this data folder/, zeroFrom(0)],
  ["zeroed behind their first page", /ends with group/, zeroFrom(LOG_PAGE_BYTES)],
  ["zeroed behind ten groups", /ends with group/, zeroFrom(11 * LOG_PAGE_BYTES)],
  [
    "replaced by older copies",
    /ends with group \d+, but group \d+ was written/,
    (path, name, older) => copyFileSync(join(older, name), path),
  ],
  ["damaged in the middle", /ends with group/, (path) => flip(path, 30 * LOG_PAGE_BYTES + 100)],
];

function zeroFrom(from: number): LogDamage {
  return (path) => writeFileSync(path, readFileSync(path).fill(0, from));
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

/** Runs `write` and waits until the database has recorded the log's new position. */
export async function untilNoted(location: string, write: () => Promise<unknown>): Promise<void> {
  const database = join(location, "store", "data.mdb");
  // Waits for two updates: the first may have started before the write.
  for (let notes = 0; notes < 2; notes++) {
    const { mtimeMs } = statSync(database);
    await write();
    while (statSync(database).mtimeMs === mtimeMs) await new Promise(setImmediate);
  }
}
