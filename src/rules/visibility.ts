import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";

/** How long a message lives. */
export interface Lifetime {
  /** Null if it never expires. */
  readonly expiresMs: Instant | null;
}

/** The last expiry time: later dates have no four-digit year. */
const EXPIRES_MS_MAX: Instant = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A message's expiry must have a four-digit year. */
export function judgeExpiry(expiresMs: Instant | null): FaultCode | null {
  return expiresMs !== null && expiresMs > EXPIRES_MS_MAX ? "OutOfRangeQueryParameterValue" : null;
}

/** A message is gone from the moment it expires, whether or not it was swept. */
export function isExpired({ expiresMs }: Lifetime, now: Instant): boolean {
  return expiresMs !== null && now >= expiresMs;
}

/**
 * Whether a pop receipt permits updating or deleting the message. A receipt is valid until another
 * one is issued, even if the message has become visible again.
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
