import type { Instant } from "./clock.ts";
import { DAY_MS } from "./limits.ts";
import { timeOfDay } from "./time-text.ts";

/**
 * A number of ticks of 100 ns since 1970 UTC. The store gives out each stamp once, in rising order.
 * ETags, entity timestamps, snapshot and version ids are made from stamps.
 */
export type Stamp = bigint;

const TICKS_PER_MS = 10_000n;
/** Ticks between year 1, where the service's own ticks begin, and 1970. */
const TICKS_TO_1970 = 621_355_968_000_000_000n;

export function stampOf(instant: Instant): Stamp {
  return BigInt(Math.floor(instant)) * TICKS_PER_MS;
}

/** The stamp after `last`: the clock's, or `last` plus one if the clock has not advanced. */
export function stampAfter(last: Stamp, now: Instant): Stamp {
  const wall = stampOf(now);
  return wall > last ? wall : last + 1n;
}

export function instantOf(stamp: Stamp): Instant {
  return Number(stamp / TICKS_PER_MS);
}

/** `0x8DB1C2D3E4F5A6B`: an ETag in the service's format, without quotes. */
export function etagOf(stamp: Stamp): string {
  return `0x${(stamp + TICKS_TO_1970).toString(16).toUpperCase()}`;
}

/** The stamp of an ETag that `etagOf` has made, with or without quotes; null for any other. */
export function stampOfEtag(etag: string): Stamp | null {
  const digits = /^"?0x([\dA-F]{1,16})"?$/i.exec(etag)?.[1];
  const stamp = digits === undefined ? -1n : BigInt(`0x${digits}`) - TICKS_TO_1970;
  return stamp < 0n ? null : stamp;
}

const TICKS_PER_SECOND = 10_000_000;
const TICKS_PER_DAY = 86_400 * TICKS_PER_SECOND;

let lastDay: Stamp = 0n;
let lastDayText = "1970-01-01T";

/** `2021-01-01T00:00:00.1234567Z`. Caches the date of the last call: lists format many stamps. */
export function isoOfStamp(stamp: Stamp): string {
  let ticks = Number(stamp - lastDay);
  if (!(ticks >= 0 && ticks < TICKS_PER_DAY)) {
    const days = stamp / BigInt(TICKS_PER_DAY);
    lastDay = days * BigInt(TICKS_PER_DAY);
    lastDayText = new Date(Number(days) * DAY_MS).toISOString().slice(0, "2021-01-01T".length);
    ticks = Number(stamp - lastDay);
  }
  const second = Math.floor(ticks / TICKS_PER_SECOND);
  const fraction = String(ticks - second * TICKS_PER_SECOND).padStart(7, "0");
  return `${lastDayText}${timeOfDay(second)}.${fraction}Z`;
}

/** The stamp that `isoOfStamp` formats like this, or null. */
export function stampOfIso(iso: string): Stamp | null {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{7})Z$/.exec(iso);
  if (parts === null) return null;
  const ms = Date.parse(`${parts[1]}Z`);
  if (Number.isNaN(ms)) return null;
  const stamp = stampOf(ms) + BigInt(parts[2] as string);
  // Date.parse reads the 30th of February as the 2nd of March.
  return isoOfStamp(stamp) === iso ? stamp : null;
}
