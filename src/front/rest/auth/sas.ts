import { Fault } from "../../../base/fault.ts";
import type { Access, KeyRange } from "../../../rules/access.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import { isProtocolVersion } from "../http/protocol-version.ts";
import { isWithinRange, parseIpRange } from "./ip-range.ts";
import { authenticationFailed, printable, readable, SignatureMismatch } from "./refusals.ts";
import {
  requireSasField,
  requireWithinValidity,
  SAS_FIELDS,
  sasField,
  type Validity,
} from "./sas-fields.ts";
import { isSigned, type MacKey } from "./signature.ts";

/** What a verified shared access signature grants. */
export interface SasGrant {
  readonly access: Access;
  /** Response headers that it replaces on reads, as alternating names and values. */
  readonly overrides: readonly string[];
  /** The part of a table that it grants; null unless it is for a table. */
  readonly keyRange: KeyRange | null;
  readonly encryptionScope: string | null;
}

/** Refuses repeated fields: one value could be checked and the other used. */
export function requireNoRepeatedFields({ entries }: Query): void {
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (!SAS_FIELDS.has(name)) continue;
    if (seen.has(name)) throw authenticationFailed(`${name} is given more than once.`);
    seen.add(name);
  }
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

export function requireSignature(query: Query, text: string, keys: readonly MacKey[]): void {
  if (isSigned(requireSasField(query, "sig"), text, keys)) return;
  throw new SignatureMismatch(
    `Signature did not match. String to sign used was ${printable(text)}`,
    "If the client signed the same string, check its account name and its key.",
    text,
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
