import type { Bytes } from "../../../base/bytes.ts";
import { MESSAGES_PER_CALL_MAX, VISIBILITY_SECONDS_MAX } from "../../../base/limits.ts";
import type { Query } from "../http/exchange.ts";
import { invalidQuery, numberFromQuery, requireFromQuery } from "../request-query.ts";

/** Parses the query parameters of operations on messages. */

const SECOND_MS = 1_000;
const TTL_SECONDS_DEFAULT = 7 * 24 * 3_600;
/** Before this version messages lived at most seven days. */
const LONG_LIVES_FROM = "2017-07-29";
const FOR_EVER = -1;

/** Null if it is not sent. */
export function hiddenMsOf(query: Query, secondsMin: 0 | 1): number | null {
  const seconds = numberFromQuery(query, "visibilitytimeout", secondsMin, VISIBILITY_SECONDS_MAX);
  return seconds === null ? null : seconds * SECOND_MS;
}

export function messagesMaxOf(query: Query): number {
  return numberFromQuery(query, "numofmessages", 1, MESSAGES_PER_CALL_MAX) ?? 1;
}

/** The lifetime of a message; null if it never expires. */
export function lifeMsOf(query: Query, version: string): number | null {
  const isLong = version >= LONG_LIVES_FROM;
  // The service refuses an expiry after the last date, because it knows the time.
  const max = isLong ? Number.MAX_SAFE_INTEGER : TTL_SECONDS_DEFAULT;
  const least = Number.MIN_SAFE_INTEGER;
  const seconds = numberFromQuery(query, "messagettl", least, max) ?? TTL_SECONDS_DEFAULT;
  if (isLong && seconds === FOR_EVER) return null;
  if (seconds >= 1) return seconds * SECOND_MS;
  const endless = isLong ? ", or -1 for a message that never expires" : "";
  throw invalidQuery("messagettl", String(seconds), `It is at least 1${endless}.`);
}

export function receiptFromQuery(query: Query): Bytes {
  const value = requireFromQuery(query, "popreceipt");
  const receipt = Buffer.from(value, "base64");
  if (receipt.toString("base64") !== value) {
    throw invalidQuery("popreceipt", value, "Send the PopReceipt of the message, unchanged.");
  }
  return receipt;
}

export function receiptText(receipt: Bytes): string {
  return receipt.toString("base64");
}
