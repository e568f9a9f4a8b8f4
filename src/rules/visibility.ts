import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";

/** How long a message lives. */
export interface Lifetime {
  /** Null: for ever. */
  readonly expiresMs: Instant | null;
}

/** Expiry times end here: later dates have no four-digit year. */
const EXPIRES_MS_MAX: Instant = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A message may live for as long as its end has a date. */
export function judgeExpiry(expiresMs: Instant | null): FaultCode | null {
  return expiresMs !== null && expiresMs > EXPIRES_MS_MAX ? "OutOfRangeQueryParameterValue" : null;
}

/** A message is gone from the moment on at which it expires, whether or not it was swept. */
export function isExpired({ expiresMs }: Lifetime, now: Instant): boolean {
  return expiresMs !== null && now >= expiresMs;
}

/**
 * Whether who shows a pop receipt may update or delete the message. A receipt is good until another
 * one is given out, even if the time for which it hid the message has passed.
 */
export function judgeByReceipt(
  message: Lifetime | null,
  isLatestReceipt: boolean,
  now: Instant,
): FaultCode | null {
  if (message === null || isExpired(message, now)) return "MessageNotFound";
  return isLatestReceipt ? null : "PopReceiptMismatch";
}

/** A new message must become visible before it expires. */
export function judgeFirstSlot(visibleAtMs: Instant, { expiresMs }: Lifetime): FaultCode | null {
  return expiresMs !== null && visibleAtMs >= expiresMs ? "InvalidQueryParameterValue" : null;
}

/** A message cannot be hidden for longer than it lives. */
export function judgeLaterSlot(visibleAtMs: Instant, { expiresMs }: Lifetime): FaultCode | null {
  return expiresMs !== null && visibleAtMs > expiresMs ? "InvalidQueryParameterValue" : null;
}
