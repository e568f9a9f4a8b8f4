import type { Source } from "../../../store/source.ts";
import { refuseHeaders } from "../request-headers.ts";
import { refuseBody } from "../stored-body.ts";
import type { BlobCall, BlobFront } from "./call.ts";
import { refuseUnsupportedOnCreation } from "./unsupported.ts";

const UNSUPPORTED = [
  "x-ms-source-lease-id",
  "x-ms-source-encryption-key",
  "x-ms-source-encryption-key-sha256",
  "x-ms-source-encryption-algorithm",
];

/** What the bytes of a write are read from. It has no body of its own. */
export function sourceOf(
  { sources }: BlobFront,
  call: BlobCall,
  known: readonly string[] = [],
): Source {
  refuseUnsupportedOnCreation(call.request, known);
  refuseHeaders(call.request.headers, UNSUPPORTED);
  refuseBody(call.request);
  return sources.of(call, "blob");
}
