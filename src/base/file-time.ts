import { isoOfStamp, type Stamp } from "./stamp.ts";
import { parseIsoTime } from "./time-text.ts";

/** A time of a file or directory: ticks of 100 ns since 1601 UTC, as SMB counts them. */
export type FileTime = bigint;

/** Ticks between 1601, where file times begin, and 1970, where stamps do. */
const TICKS_TO_1970 = 116_444_736_000_000_000n;
const TICKS_PER_MS = 10_000n;
const TICKS_PER_SECOND = 10_000_000n;
/** The end of the year 9999: later times cannot be written in ISO 8601. */
const LAST = 2_650_467_743_999_999_999n;

export function fileTimeOfStamp(stamp: Stamp): FileTime {
  return stamp + TICKS_TO_1970;
}

/** Negative before 1970; no such stamp exists. */
export function stampOfFileTime(time: FileTime): Stamp {
  return time - TICKS_TO_1970;
}

/** `2026-11-16T00:17:23.1234567Z` */
export function isoOfFileTime(time: FileTime): string {
  if (time >= TICKS_TO_1970) return isoOfStamp(time - TICKS_TO_1970);
  const ms = Number(time / TICKS_PER_MS - TICKS_TO_1970 / TICKS_PER_MS);
  const second = new Date(ms).toISOString().slice(0, 19);
  return `${second}.${String(time % TICKS_PER_SECOND).padStart(7, "0")}Z`;
}

/** Parses an ISO time from 1601 on, with a fraction of up to 7 digits; null if it is not one. */
export function fileTimeOfIso(text: string): FileTime | null {
  const ms = parseIsoTime(text);
  if (ms === null) return null;
  const whole = BigInt(Math.floor(ms / 1_000)) * TICKS_PER_SECOND + TICKS_TO_1970;
  const fraction = /\.(\d{1,7})Z$/.exec(text)?.[1] ?? "";
  const time = whole + BigInt(fraction.padEnd(7, "0"));
  return time >= 0n && time <= LAST ? time : null;
}
