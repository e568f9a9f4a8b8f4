import type { ByteRange } from "../../../base/byte-range.ts";
import type { Source } from "../../../store/source.ts";
import { parseRange } from "../byte-range.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, metadataOf, refuseHeaders } from "../request-headers.ts";
import { refuseBody } from "../stored-body.ts";
import type { BlobCall, BlobFront } from "./call.ts";
import { refuseUnsupportedOnCreation } from "./unsupported.ts";

const RANGE = "x-ms-source-range";

/** Headers that name a source and say something about it, from text to values. */

const UNSUPPORTED = [
  "x-ms-source-lease-id",
  "x-ms-source-encryption-key",
  "x-ms-source-encryption-key-sha256",
  "x-ms-source-encryption-algorithm",
];

/** What the bytes of a write are read from. It has no body of its own. */
export function sourceOf({ sources }: BlobFront, call: BlobCall): Source {
  refuseUnsupportedOnCreation(call.request);
  refuseHeaders(call.request.headers, UNSUPPORTED);
  refuseBody(call.request);
  return sources.of(call, "blob");
}

export function sourceRangeOf(headers: RequestHeaders): ByteRange | null {
  const value = headers.get(RANGE);
  if (value === undefined || value === "") return null;
  const range = parseRange(value.trim());
  if (range === null) {
    throw invalidHeader(RANGE, value, "It must look like bytes=0-499 or bytes=500-.");
  }
  return range;
}

/** Metadata replaces what the source has, all of it; without any, the source's is taken over. */
export function copiedMetadataOf(headers: RequestHeaders): [string, string][] | null {
  const metadata = metadataOf(headers);
  return metadata.length === 0 ? null : metadata;
}
