import type { ByteRange } from "../../base/byte-range.ts";
import type { Digests } from "../../store/contents.ts";
import type { RequestHeaders } from "./http/exchange.ts";
import { flagOf, invalidHeader } from "./request-headers.ts";

/** Some clients say "to the end" with the greatest number of 64 bits. */
const RANGE = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/** How the Python SDK of 2015 asks for all of a blob or file, which the service takes for no range. */
const NO_RANGE = "bytes=None-";

/**
 * The part of a blob that a request asks for; `x-ms-range` wins. What HTTP lets a server not
 * understand in `Range` (suffixes, several ranges) is ignored, as HTTP wants it.
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

/** Nothing is so long that what is beyond safe numbers would make a difference. */
function byteOf(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

const MD5 = "x-ms-range-get-content-md5";
const CRC64 = "x-ms-range-get-content-crc64";

/** Which checksum of the range is wanted with it; null if none is. */
export function rangeDigestsOf(headers: RequestHeaders, range: ByteRange | null): Digests | null {
  const md5 = flagOf(headers, MD5);
  const crc64 = flagOf(headers, CRC64);
  if (!md5 && !crc64) return null;
  if (md5 && crc64) throw invalidHeader(CRC64, "true", `Ask for this or for ${MD5}, not for both.`);
  if (range === null) throw invalidHeader(md5 ? MD5 : CRC64, "true", "It needs a range.");
  return { md5, crc64 };
}
