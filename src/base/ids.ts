import { randomUUID } from "node:crypto";

/** A new GUID, in lower case. Never called inside a transaction body: bodies have no randomness. */
export function newGuid(): string {
  return randomUUID();
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A GUID in one of the spellings clients use (braces, no dashes), as lower case with dashes; null otherwise. */
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
