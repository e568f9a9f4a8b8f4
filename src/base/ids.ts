import { randomUUID } from "node:crypto";
import type { Instant } from "./clock.ts";

/** A new GUID, in lower case. Never called inside a transaction body: bodies have no randomness. */
export function newGuid(): string {
  return randomUUID();
}

/**
 * Makes a version 7 GUID from the time and a new GUID, `random`. Records keyed by such GUIDs lie
 * together if they are made at about the same time.
 */
export function timedGuid(instant: Instant, random: string): string {
  const ms = instant.toString(16).padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${random.slice(15)}`;
}

/** The time in a GUID that `timedGuid` made. */
export function instantOfGuid(guid: string): Instant {
  return Number.parseInt(guid.slice(0, 8) + guid.slice(9, 13), 16);
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses a GUID with or without braces and dashes to lower case with dashes; null if malformed. */
export function parseGuid(text: string): string | null {
  if (text.length > 38) return null;
  let plain = text.toLowerCase();
  if (/^[{(].*[)}]$/.test(plain)) plain = plain.slice(1, -1);
  if (/^[0-9a-f]{32}$/.test(plain)) {
    plain = [
      plain.slice(0, 8),
      plain.slice(8, 12),
      plain.slice(12, 16),
      plain.slice(16, 20),
      plain.slice(20),
    ].join("-");
  }
  return GUID.test(plain) ? plain : null;
}
