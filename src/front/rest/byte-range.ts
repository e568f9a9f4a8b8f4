import type { ByteRange } from "../../base/byte-range.ts";
import type { Digests } from "../../store/contents.ts";
import type { RequestHeaders } from "./http/exchange.ts";
import { flagOf, invalidHeader } from "./request-headers.ts";

/** Allows 19 digits: some clients send the largest 64-bit number for "to the end". */
const RANGE = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/**
 * Sent by the Python SDK of 2015 to read a whole blob or file. The service treats it as no range.
 */
const NO_RANGE = "bytes=None-";

/**
 * Returns the range that a request asks for; `x-ms-range` wins over `Range`. Forms of `Range` that
 * HTTP allows a server to ignore (suffixes, several ranges) are ignored.
 */
export function rangeOf(headers: RequestHeaders): ByteRange | null {
  const own = headers.get("x-ms-range");
  if (own !== undefined && own !== "" && own !== NO_RANGE) {
    const range = parseRange(own);
    if (range === null) {
      throw invalidHeader("x-ms-range", own, "It must look like bytes=0-499 or bytes=500-.");
    }
    return range;
  }
  const standard = headers.get("range");
  return standard === undefined ? null : parseRange(standard.trim());
}

export function parseRange(text: string): ByteRange | null {
  const found = RANGE.exec(text);
  if (found === null) return null;
  const from = byteOf(found[1] as string);
  const to = found[2] === undefined ? null : byteOf(found[2]);
  return to !== null && to < from ? null : { from, to };
}

/** Caps at the largest safe integer: no blob or file is that long. */
function byteOf(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

const MD5 = "x-ms-range-get-content-md5";
const CRC64 = "x-ms-range-get-content-crc64";

/** Returns which checksum of the range the client wants; null if none. */
export function rangeDigestsOf(headers: RequestHeaders, range: ByteRange | null): Digests | null {
  const md5 = flagOf(headers, MD5);
  const crc64 = flagOf(headers, CRC64);
  if (!md5 && !crc64) return null;
  if (md5 && crc64) throw invalidHeader(CRC64, "true", `Ask for this or for ${MD5}, not for both.`);
  if (range === null) throw invalidHeader(md5 ? MD5 : CRC64, "true", "It needs a range.");
  return { md5, crc64 };
}
