import type { Instant } from "../../../base/clock.ts";

/** From 1601, where Windows begins to count, to 1970. */
const EPOCH_MS = 11_644_473_600_000n;
const TICKS_PER_MS = 10_000n;

/** An instant in ticks of 100 ns since 1601. */
export function fileTime(instant: Instant): bigint {
  return (BigInt(Math.trunc(instant)) + EPOCH_MS) * TICKS_PER_MS;
}
