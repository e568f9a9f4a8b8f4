import { Fault } from "../../../base/fault.ts";
import { trimBlanks } from "../blanks.ts";
import { compareHeaderNames, compareOrdinally } from "./header-order.ts";
import { SECONDARY_SUFFIX, type ServiceName } from "./resource.ts";

// What Shared Key signs. Pure: the console's page signs its requests with it, too.

/** Since this version, a Content-Length of zero is signed as empty. */
const EMPTY_LENGTH_FROM = "2015-02-21";
/** Since this version, headers without a value are signed. */
const EMPTY_HEADERS_FROM = "2016-05-31";

/**
 * A way to build the string to sign. Each flag is a known deviation of some client, and matters
 * only if the request has the header or path concerned.
 */
interface Reading {
  /** Headers in ordinal order, as documented, not in the order that the service uses. */
  readonly ordinal: boolean;
  /** Spaces within header values are folded into one. */
  readonly folded: boolean;
  /** Content-Language before Content-Encoding. */
  readonly swapped: boolean;
  /** The path without `-secondary`. */
  readonly primary: boolean;
}

/** The reading that nearly every client uses. */
const USUAL: Reading = { ordinal: false, folded: false, swapped: false, primary: false };
/** Every combination of the deviations. */
const UNUSUAL: readonly Reading[] = Array.from({ length: 15 }, (_, at) => ({
  ordinal: ((at + 1) & 1) !== 0,
  folded: ((at + 1) & 2) !== 0,
  swapped: ((at + 1) & 4) !== 0,
  primary: ((at + 1) & 8) !== 0,
}));

/** A request with the values that every reading needs. */
interface Signing {
  readonly request: SignedRequest;
  readonly address: SignedAddress;
  /** `x-ms-` headers in the service's order, with names in lower case; empty for tables. */
  readonly signedHeaders: readonly Header[];
}

type Header = readonly [name: string, value: string];

/** The parts of a request that a signature covers. */
export interface SignedRequest {
  readonly method: string;
  /** As sent: encoded, and with the account, unless the host names that. */
  readonly path: string;
  /** Decoded parameters, with names in lower case. */
  readonly query: {
    get(name: string): string | undefined;
    readonly entries: readonly Header[];
  };
  readonly headers: SignedHeaders;
  readonly version: string;
}

interface SignedHeaders {
  /** The value of a header, by its name in lower case. */
  get(name: string): string | undefined;
  /** Names as sent, each followed by its value. */
  readonly raw: readonly string[];
}

interface SignedAddress {
  readonly accountName: string;
  readonly isSecondary: boolean;
  readonly hostStyle: boolean;
}

/** The string to sign, as nearly every client reads a request. */
export function sharedKeyText(
  request: SignedRequest,
  address: SignedAddress,
  service: ServiceName,
  lite: boolean,
): string {
  return stringToSign(signingOf(request, address, service), service, lite, USUAL);
}

/** What clients with known deviations sign: tried if the usual string was not signed. */
export function* unusualTexts(
  request: SignedRequest,
  address: SignedAddress,
  service: ServiceName,
  lite: boolean,
): Generator<string, void> {
  const signing = signingOf(request, address, service);
  for (const reading of UNUSUAL) yield stringToSign(signing, service, lite, reading);
}

function signingOf(request: SignedRequest, address: SignedAddress, service: ServiceName): Signing {
  const { headers, version } = request;
  const signedHeaders = service === "table" ? [] : signedHeadersOf(headers, version);
  return { request, address, signedHeaders };
}

function stringToSign(
  signing: Signing,
  service: ServiceName,
  lite: boolean,
  reading: Reading,
): string {
  const { method, headers } = signing.request;
  const content = `${textOf(headers, "content-md5")}\n${textOf(headers, "content-type")}\n`;
  if (service === "table") {
    const dated = `${dateOf(headers)}\n${liteResource(signing, reading)}`;
    return lite ? dated : `${method}\n${content}${dated}`;
  }
  const date = headers.get("x-ms-date") === undefined ? textOf(headers, "date") : "";
  const about = `${content}${date}\n`;
  const signedHeaders = canonicalHeaders(signing.signedHeaders, reading);
  if (lite) return `${method}\n${about}${signedHeaders}${liteResource(signing, reading)}`;
  return (
    `${method}\n${contentLines(signing, reading)}${about}${conditionLines(headers)}` +
    `${signedHeaders}${resourcePath(signing, reading)}${canonicalQuery(signing.request.query)}`
  );
}

function contentLines({ request }: Signing, { swapped }: Reading): string {
  const encoding = textOf(request.headers, "content-encoding");
  const language = textOf(request.headers, "content-language");
  const length = textOf(request.headers, "content-length");
  const signedLength = length === "0" && request.version >= EMPTY_LENGTH_FROM ? "" : length;
  return swapped
    ? `${language}\n${encoding}\n${signedLength}\n`
    : `${encoding}\n${language}\n${signedLength}\n`;
}

function conditionLines(headers: SignedHeaders): string {
  return (
    `${textOf(headers, "if-modified-since")}\n${textOf(headers, "if-match")}\n` +
    `${textOf(headers, "if-none-match")}\n${textOf(headers, "if-unmodified-since")}\n` +
    `${textOf(headers, "range")}\n`
  );
}

function signedHeadersOf(headers: SignedHeaders, version: string): readonly Header[] {
  const found: Header[] = [];
  const { raw } = headers;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    if (name.charCodeAt(1) !== HYPHEN || name.slice(0, 5).toLowerCase() !== "x-ms-") continue;
    const value = trimBlanks(raw[at + 1] as string);
    if (value === "" && version < EMPTY_HEADERS_FROM) continue;
    found.push([name.toLowerCase(), value]);
  }
  const sorted = inOrder(found, byName);
  for (let at = 1; at < sorted.length; at++) {
    const name = (sorted[at] as Header)[0];
    if (name === sorted[at - 1]?.[0]) {
      throw new Fault("InvalidHeaderValue", {
        HeaderName: name,
        Reason: "This header was sent twice: send it once.",
      });
    }
  }
  return sorted;
}

const FEW_HEADERS = 16;

/**
 * Sorts headers. Insertion sort is fastest for few headers, which mostly arrive in order; it is
 * quadratic, so many headers, which any client can send, use the built-in sort.
 */
function inOrder(headers: readonly Header[], compare: Compare): readonly Header[] {
  if (headers.length > FEW_HEADERS) return headers.toSorted(compare);
  const sorted: Header[] = [];
  for (const header of headers) {
    let at = sorted.length;
    for (; at > 0; at--) {
      const before = sorted[at - 1] as Header;
      if (compare(before, header) <= 0) break;
      sorted[at] = before;
    }
    sorted[at] = header;
  }
  return sorted;
}

type Compare = (left: Header, right: Header) => number;

/** Compares in the service's order. */
function byName(left: Header, right: Header): number {
  return compareHeaderNames(left[0], right[0]);
}

function canonicalHeaders(headers: readonly Header[], { ordinal, folded }: Reading): string {
  const ordered = ordinal ? headers.toSorted(byNameOrdinally) : headers;
  let text = "";
  for (const [name, value] of ordered) {
    text += `${name}:${folded ? value.replaceAll(/[ \t]+/g, " ") : value}\n`;
  }
  return text;
}

/** Returns `/account` and the path as sent. */
function resourcePath({ request, address }: Signing, { primary }: Reading): string {
  const { accountName, isSecondary, hostStyle } = address;
  const { path } = request;
  if (!primary || !isSecondary || hostStyle) return `/${accountName}${path}`;
  const rest = path.slice(1 + accountName.length + SECONDARY_SUFFIX.length);
  return `/${accountName}/${accountName}${rest}`;
}

/** Includes only `comp` of the query. */
function liteResource(signing: Signing, reading: Reading): string {
  const comp = signing.request.query.get("comp");
  const path = resourcePath(signing, reading);
  return comp === undefined ? path : `${path}?comp=${comp}`;
}

/** Formats each parameter on its own line, sorted by name; values of one name are joined. */
function canonicalQuery({ entries }: SignedRequest["query"]): string {
  if (entries.length === 0) return "";
  const sorted = inOrder(entries, byNameAndValue);
  let text = "";
  let last: string | null = null;
  for (const [name, value] of sorted) {
    text += name === last ? `,${value}` : `\n${name}:${value}`;
    last = name;
  }
  return text;
}

function byNameAndValue(left: Header, right: Header): number {
  return byNameOrdinally(left, right) || compareOrdinally(left[1], right[1]);
}

const HYPHEN = 0x2d;

function byNameOrdinally(left: Header, right: Header): number {
  return compareOrdinally(left[0], right[0]);
}

/** The date of a request: that of its own header first. */
export function dateOf(headers: SignedHeaders): string | undefined {
  return headers.get("x-ms-date") ?? headers.get("date");
}

function textOf(headers: SignedHeaders, name: string): string {
  return headers.get(name) ?? "";
}
