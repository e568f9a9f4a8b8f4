import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import { parseIsoTime, rfc1123 } from "../../../base/time-text.ts";
import type { Access, KeyRange } from "../../../rules/access.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import { isProtocolVersion } from "../http/protocol-version.ts";
import { isWithinRange, parseIpRange } from "./ip-range.ts";
import {
  authenticationFailed,
  isSigned,
  type MacKey,
  printable,
  readable,
  SignatureMismatch,
} from "./signature.ts";

/** What a verified shared access signature grants. */
export interface SasGrant {
  readonly access: Access;
  /** Response headers that it replaces on reads, as alternating names and values. */
  readonly overrides: readonly string[];
  /** The part of a table that it grants; null unless it is for a table. */
  readonly keyRange: KeyRange | null;
  readonly encryptionScope: string | null;
}

/** The time in which a token is valid. Null where it does not say. */
export interface Validity {
  readonly startMs: Instant | null;
  readonly expiryMs: Instant | null;
}

/** Since this version, tokens can name addresses and protocols, and can be for a whole account. */
export const SAS_2015 = "2015-04-05";

const MAY_HAVE_BLANKS: ReadonlySet<string> = new Set(["si", "spk", "srk", "epk", "erk"]);

/**
 * Returns a field of the token as it was signed; "" if it is missing. Refuses line ends, with which
 * the value of one field could pass for another.
 */
export function sasField(query: Query, name: string): string {
  const value = MAY_HAVE_BLANKS.has(name) ? query.form(name) : query.get(name);
  if (value === undefined) return "";
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) {
      throw authenticationFailed(`${name} contains a control character.`);
    }
  }
  return value;
}

/** All fields that any kind of SAS may have. */
const SAS_FIELDS: ReadonlySet<string> = new Set(
  (
    "sv ss srt sp st se sip spr si sr sdd ses sig tn spk srk epk erk rscc rscd rsce rscl rsct " +
    "skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid srh srq"
  ).split(" "),
);

/** Refuses repeated fields: one value could be checked and the other used. */
export function requireNoRepeatedFields({ entries }: Query): void {
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (!SAS_FIELDS.has(name)) continue;
    if (seen.has(name)) throw authenticationFailed(`${name} is given more than once.`);
    seen.add(name);
  }
}

export function requireSasField(query: Query, name: string): string {
  const value = sasField(query, name);
  if (value === "") throw authenticationFailed(`${name} is mandatory. Cannot be empty`);
  return value;
}

/** Returns `sv`, or "" for tokens older than that field. */
export function sasVersion(query: Query): string {
  const version = sasField(query, "sv");
  if (version !== "" && !isProtocolVersion(version)) {
    throw authenticationFailed(
      `sv must be a date such as 2020-12-06, before the year 2100, not ${readable(version)}.`,
    );
  }
  return version;
}

export function sasTime(query: Query, name: string): Instant | null {
  const text = sasField(query, name);
  if (text === "") return null;
  const instant = parseIsoTime(text);
  if (instant === null) {
    throw authenticationFailed(
      `${name} must be a time such as 2030-01-02T00:00:00Z, not ${readable(text)}.`,
    );
  }
  return instant;
}

export function validityOf(query: Query): Validity {
  return { startMs: sasTime(query, "st"), expiryMs: sasTime(query, "se") };
}

export function requireSignature(query: Query, text: string, keys: readonly MacKey[]): void {
  if (isSigned(requireSasField(query, "sig"), text, keys)) return;
  throw new SignatureMismatch(
    `Signature did not match. String to sign used was ${printable(text)}`,
    "If the client signed the same string, check its account name and its key.",
  );
}

/** Checks when, from where and over which protocol a token may be used. */
export function requireTermsMet(request: RestRequest, validity: Validity): void {
  const { query, judgedMs } = request;
  requireWithinValidity(validity, judgedMs);
  const addresses = sasField(query, "sip");
  if (addresses !== "") {
    const range = parseIpRange(addresses);
    if (range === null)
      throw authenticationFailed(`sip is not an IPv4 address or a range of them.`);
    if (!isWithinRange(range, request.remoteAddress)) {
      throw new Fault("AuthorizationSourceIPMismatch");
    }
  }
  const protocols = sasField(query, "spr");
  if (protocols === "https") {
    if (!request.secure) throw new Fault("AuthorizationProtocolMismatch");
  } else if (protocols !== "" && protocols !== "https,http") {
    throw authenticationFailed(`spr must be https or https,http, not ${readable(protocols)}.`);
  }
}

/** Treats a token without a start as if it started now. */
export function requireWithinValidity({ startMs, expiryMs }: Validity, now: Instant): void {
  const start = startMs ?? now;
  if (start <= now && (expiryMs === null || now < expiryMs)) return;
  const expiry = expiryMs === null ? "" : rfc1123(expiryMs);
  if (expiryMs !== null && expiryMs <= start) {
    throw authenticationFailed(
      `Signed expiry time [${expiry}] must be after signed start time [${rfc1123(start)}]`,
    );
  }
  throw authenticationFailed(
    "Signature not valid in the specified time frame: " +
      `Start [${rfc1123(start)}] - Expiry [${expiry}] - Current [${rfc1123(now)}]`,
  );
}

const OVERRIDES = [
  ["rscc", "Cache-Control"],
  ["rscd", "Content-Disposition"],
  ["rsce", "Content-Encoding"],
  ["rscl", "Content-Language"],
  ["rsct", "Content-Type"],
] as const;

export function overridesOf(query: Query): string[] {
  const headers: string[] = [];
  for (const [parameter, header] of OVERRIDES) {
    const value = sasField(query, parameter);
    // Headers are sent byte for byte, so each UTF-8 byte becomes one character.
    if (value !== "") headers.push(header, Buffer.from(value, "utf8").toString("latin1"));
  }
  return headers;
}
