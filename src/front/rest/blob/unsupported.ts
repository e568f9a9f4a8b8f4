import { KEY_HEADERS } from "../customer-key.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { requireNoHeaders } from "../request-headers.ts";

/** Refuses unsupported headers, so that no client believes that they took effect. */

const ON_CREATIONS = [
  "x-ms-encryption-scope",
  "x-ms-rehydrate-priority",
  "x-ms-immutability-policy-until-date",
  "x-ms-immutability-policy-mode",
  "x-ms-legal-hold",
  "x-ms-expiry-option",
  "x-ms-expiry-time",
  "x-ms-blob-content-length",
  "x-ms-blob-sequence-number",
  "x-ms-sequence-number-action",
];

const ON_WRITES = [...ON_CREATIONS, "x-ms-tags", "x-ms-access-tier"];

const ON_DELETE = [
  ...KEY_HEADERS,
  "x-ms-access-tier-if-modified-since",
  "x-ms-access-tier-if-unmodified-since",
];

interface Asked {
  readonly headers: RequestHeaders;
}

/** For operations that take no key. */
export function requireNoKey({ headers }: Asked): void {
  requireNoHeaders(headers, KEY_HEADERS);
}

/** `known` are the headers that the operation supports all the same. */
export function requireSupportedOnWrite({ headers }: Asked, known: readonly string[] = []): void {
  requireNoHeaders(headers, without(ON_WRITES, known));
}

/** For operations that create a blob, which take tags and a tier. */
export function requireSupportedOnCreation(
  { headers }: Asked,
  known: readonly string[] = [],
): void {
  requireNoHeaders(headers, without(ON_CREATIONS, known));
}

export function requireSupportedOnDelete({ headers }: Asked): void {
  requireNoHeaders(headers, ON_DELETE);
}

export function without(names: readonly string[], known: readonly string[]): readonly string[] {
  return known.length === 0 ? names : names.filter((name) => !known.includes(name));
}
