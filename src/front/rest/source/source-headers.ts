import type { ByteRange } from "../../../base/byte-range.ts";
import { parseRange } from "../byte-range.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, metadataOf } from "../request-headers.ts";

/** Parses headers about a copy source. */

const RANGE = "x-ms-source-range";

export function sourceRangeOf(headers: RequestHeaders): ByteRange | null {
  const value = headers.get(RANGE);
  if (value === undefined || value === "") return null;
  const range = parseRange(value.trim());
  if (range === null) {
    throw invalidHeader(RANGE, value, "It must look like bytes=0-499 or bytes=500-.");
  }
  return range;
}

/**
 * Reads the metadata of a copy; null to take over the source's. Metadata replaces all of the
 * source's.
 */
export function copiedMetadataOf(headers: RequestHeaders): [string, string][] | null {
  const metadata = metadataOf(headers);
  return metadata.length === 0 ? null : metadata;
}
