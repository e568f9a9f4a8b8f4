import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import { parseGuid } from "../../base/ids.ts";
import { METADATA_BYTES_MAX } from "../../base/limits.ts";
import { parseHttpDate } from "../../base/time-text.ts";
import type { Conditions } from "../../rules/conditions.ts";
import { trimBlanks } from "./blanks.ts";
import type { RequestHeaders } from "./http/exchange.ts";

/** Parses headers that several services share. A malformed header is refused by name. */

export function requireHeader(headers: RequestHeaders, name: string): string {
  const value = headers.get(name);
  if (value === undefined || value === "") {
    throw new Fault("MissingRequiredHeader", { HeaderName: name });
  }
  return value;
}

export function invalidHeader(name: string, value: string, reason?: string): Fault {
  const detail = { HeaderName: name, HeaderValue: value };
  return new Fault(
    "InvalidHeaderValue",
    reason === undefined ? detail : { ...detail, Reason: reason },
  );
}

/** Whether `Accept` names this media type. Wildcards and quality values are ignored. */
export function acceptsType(headers: RequestHeaders, type: string): boolean {
  const accept = headers.get("accept");
  if (accept === undefined || accept === type) return accept !== undefined;
  const types = accept.toLowerCase().split(",");
  return types.some((one) => one.split(";", 1)[0]?.trim() === type);
}

/** Reads the four standard conditions, optionally with a prefix (`x-ms-source-`). */
export function conditionsOf(headers: RequestHeaders, prefix = ""): Conditions {
  return {
    ifMatch: etagsOf(headers, `${prefix}if-match`),
    ifNoneMatch: etagsOf(headers, `${prefix}if-none-match`),
    ifModifiedSinceMs: dateOf(headers, `${prefix}if-modified-since`),
    ifUnmodifiedSinceMs: dateOf(headers, `${prefix}if-unmodified-since`),
  };
}

/** Reads ETags and removes their quotes; clients send them with and without. */
function etagsOf(headers: RequestHeaders, name: string): readonly string[] | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  return value.split(",").map((part) => {
    const etag = part.trim();
    return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"')
      ? etag.slice(1, -1)
      : etag;
  });
}

function dateOf(headers: RequestHeaders, name: string): Instant | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const parsed = parseHttpDate(value);
  if (parsed === null) throw invalidHeader(name, value);
  return parsed;
}

export function leaseIdOf(headers: RequestHeaders, name = "x-ms-lease-id"): string | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const id = parseGuid(value);
  if (id === null) throw invalidHeader(name, value);
  return id;
}

const METADATA_PREFIX = "x-ms-meta-";
export const METADATA_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** Reads metadata. Names keep their case; two names that differ only in case are refused. */
export function metadataOf({ raw }: Pick<RequestHeaders, "raw">): [string, string][] {
  const found: [string, string][] = [];
  const names = new Set<string>();
  let size = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const header = raw[at] as string;
    if (header.length < METADATA_PREFIX.length) continue;
    if (header.slice(0, METADATA_PREFIX.length).toLowerCase() !== METADATA_PREFIX) continue;
    const name = header.slice(METADATA_PREFIX.length);
    const value = trimBlanks(raw[at + 1] as string);
    if (name === "") throw new Fault("EmptyMetadataKey");
    if (!METADATA_NAME.test(name) || names.has(name.toLowerCase()) || !isText(value)) {
      throw new Fault("InvalidMetadata", { HeaderName: header });
    }
    names.add(name.toLowerCase());
    size += name.length + value.length;
    found.push([name, value]);
  }
  if (size > METADATA_BYTES_MAX) throw new Fault("MetadataTooLarge");
  return found;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: bytes above ASCII are what is looked for
const NOT_ASCII = /[^\x00-\x7f]/;

/** Whether a header's bytes, each received as one Latin-1 character, are UTF-8. */
function isText(value: string): boolean {
  return !NOT_ASCII.test(value) || isUtf8(Buffer.from(value, "latin1"));
}

/** Reads `Content-MD5` and `x-ms-content-crc64`; a request may send one of them. */
export function digestsOf(headers: RequestHeaders): { md5: Bytes | null; crc64: Bytes | null } {
  return digestsNamed(headers, "content-md5", "x-ms-content-crc64");
}

/** Reads the digests that a copy source must have. */
export function sourceDigestsOf(headers: RequestHeaders): {
  md5: Bytes | null;
  crc64: Bytes | null;
} {
  return digestsNamed(headers, "x-ms-source-content-md5", "x-ms-source-content-crc64");
}

function digestsNamed(
  headers: RequestHeaders,
  md5Name: string,
  crc64Name: string,
): { md5: Bytes | null; crc64: Bytes | null } {
  const md5 = md5Of(headers, md5Name);
  const crc64 = crc64Of(headers, crc64Name);
  if (md5 !== null && crc64 !== null) throw new Fault("BothCrc64AndMd5HeaderPresent");
  return { md5, crc64 };
}

/** Reads an MD5 that is compared with another. */
export function md5Of(headers: RequestHeaders, name: string): Bytes | null {
  const md5 = storedMd5Of(headers, name);
  if (md5 === null || md5.length === MD5_BYTES) return md5;
  throw new Fault("InvalidMd5", { HeaderName: name, HeaderValue: headers.get(name) ?? "" });
}

const MD5_BYTES = 16;

/** Reads an MD5 that is stored and returned: the service accepts any length. */
export function storedMd5Of(headers: RequestHeaders, name: string): Bytes | null {
  return base64Of(headers, name, "InvalidMd5");
}

/** Reads a CRC-64 of any length: one of a wrong length does not match. */
export function crc64Of(headers: RequestHeaders, name: string): Bytes | null {
  return base64Of(headers, name, "InvalidCrc64");
}

function base64Of(
  headers: RequestHeaders,
  name: string,
  code: "InvalidMd5" | "InvalidCrc64",
): Bytes | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const bytes = Buffer.from(value, "base64");
  if (bytes.toString("base64") === value) return bytes;
  throw new Fault(code, { HeaderName: name, HeaderValue: value });
}

/** Reads an integer within bounds; null if the header is not sent. */
export function numberOf(
  headers: RequestHeaders,
  name: string,
  min: number,
  max: number,
): number | null {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const number = /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw invalidHeader(name, value);
  return number;
}

/** Reads a flag, which is false if the header is not sent. */
export function flagOf(headers: RequestHeaders, name: string): boolean {
  const value = headers.get(name);
  if (value === undefined || value === "") return false;
  const lower = value.toLowerCase();
  if (lower !== "true" && lower !== "false") throw invalidHeader(name, value);
  return lower === "true";
}

/** Refuses metadata on a request that takes over the metadata of something else. */
export function requireNoMetadata(headers: RequestHeaders): void {
  requireNoHeaders(
    headers,
    metadataOf(headers).map(([name]) => METADATA_PREFIX + name.toLowerCase()),
  );
}

/** Refuses unsupported headers by name, so that none is accepted and ignored. */
export function requireNoHeaders(headers: RequestHeaders, names: readonly string[]): void {
  for (const name of names) {
    if (headers.get(name) !== undefined) {
      throw new Fault("UnsupportedHeader", {
        HeaderName: name,
        Reason: "This server does not support this header yet: send the request without it.",
      });
    }
  }
}
