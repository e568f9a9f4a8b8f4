import type { SourceRole } from "../../../rules/conditions.ts";
import type { OwnSource, Source } from "../../../service/shared/source.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import type { BlobCall, BlobFront } from "./call.ts";
import { PROPERTY_NAMES } from "./properties.ts";
import { refuseUnsupportedOnCreation, without } from "./unsupported.ts";

const UNSUPPORTED = [
  "x-ms-source-lease-id",
  "x-ms-source-encryption-key",
  "x-ms-source-encryption-key-sha256",
  "x-ms-source-encryption-algorithm",
];

/** What only some of those understand that copy a whole source. */
const ON_WHOLE_SOURCES = [
  ...UNSUPPORTED,
  "x-ms-source-range",
  "x-ms-source-content-md5",
  "x-ms-source-content-crc64",
  "x-ms-copy-source-blob-properties",
  "x-ms-seal-blob",
  ...Object.values(PROPERTY_NAMES),
];

/** What the bytes of a write are read from. It has no body of its own. */
export function sourceOf({ sources }: BlobFront, call: BlobCall): Promise<Source> {
  refuseOnSource(call, []);
  return sources.of(call, "blob", "read");
}

/** The same, for a blob that is made of all of its source. */
export function wholeSourceOf(
  { sources }: BlobFront,
  call: BlobCall,
  known: readonly string[],
  role: SourceRole = "copied",
): Promise<Source> {
  requireNoHeaders(call.request.headers, without(ON_WHOLE_SOURCES, known));
  refuseOnSource(call, known);
  return sources.of(call, "blob", role);
}

/** The same, of a blob on this server. */
export function ownBlobOf({ sources }: BlobFront, call: BlobCall): Promise<OwnSource> {
  requireNoHeaders(call.request.headers, ON_WHOLE_SOURCES);
  refuseOnSource(call, []);
  return sources.ownBlobOf(call);
}

function refuseOnSource({ request }: BlobCall, known: readonly string[]): void {
  refuseUnsupportedOnCreation(request, known);
  requireNoHeaders(request.headers, UNSUPPORTED);
  requireNoBody(request);
}
