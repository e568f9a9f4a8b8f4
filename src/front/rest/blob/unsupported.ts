import type { RequestHeaders } from "../http/exchange.ts";
import { requireNoHeaders } from "../request-headers.ts";

/** What has no meaning here yet is refused: a client must not believe that it took effect. */

const ON_ANY = ["x-ms-encryption-key", "x-ms-encryption-key-sha256", "x-ms-encryption-algorithm"];

const ON_CREATIONS = [
  ...ON_ANY,
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
  ...ON_ANY,
  "x-ms-access-tier-if-modified-since",
  "x-ms-access-tier-if-unmodified-since",
];

interface Asked {
  readonly headers: RequestHeaders;
}

export function refuseUnsupportedOnRead({ headers }: Asked): void {
  requireNoHeaders(headers, ON_ANY);
}

/** `known` are those of the headers that this operation does understand. */
export function refuseUnsupportedOnWrite({ headers }: Asked, known: readonly string[] = []): void {
  requireNoHeaders(headers, without(ON_WRITES, known));
}

/** For what makes a blob, with all that it has. */
export function refuseUnsupportedOnCreation(
  { headers }: Asked,
  known: readonly string[] = [],
): void {
  requireNoHeaders(headers, without(ON_CREATIONS, known));
}

export function refuseUnsupportedOnDelete({ headers }: Asked): void {
  requireNoHeaders(headers, ON_DELETE);
}

export function without(names: readonly string[], known: readonly string[]): readonly string[] {
  return known.length === 0 ? names : names.filter((name) => !known.includes(name));
}
