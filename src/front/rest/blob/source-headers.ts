import type { SourceRole } from "../../../rules/conditions.ts";
import type { OwnSource, Source } from "../../../service/shared/source.ts";
import { KEY_HEADERS, SOURCE_KEY_HEADERS } from "../customer-key.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import type { BlobCall, BlobFront } from "./call.ts";
import { PROPERTY_NAMES } from "./properties.ts";
import { requireSupportedOnCreation, without } from "./unsupported.ts";

const UNSUPPORTED = ["x-ms-source-lease-id"];

/** Headers that only some of the operations on whole sources understand. */
const ON_WHOLE_SOURCES = [
  ...KEY_HEADERS,
  ...SOURCE_KEY_HEADERS,
  "x-ms-source-range",
  "x-ms-source-content-md5",
  "x-ms-source-content-crc64",
  "x-ms-copy-source-blob-properties",
  "x-ms-seal-blob",
  ...Object.values(PROPERTY_NAMES),
];

/** Resolves the source of a write, whose request must have no body. */
export function sourceOf({ sources }: BlobFront, call: BlobCall): Promise<Source> {
  requireSupportedSource(call, []);
  return sources.of(call, "blob", "read");
}

/** Resolves the source of a blob that is made from the whole source. */
export function wholeSourceOf(
  { sources }: BlobFront,
  call: BlobCall,
  known: readonly string[],
  role: SourceRole = "copied",
): Promise<Source> {
  requireNoHeaders(call.request.headers, without(ON_WHOLE_SOURCES, known));
  requireSupportedSource(call, known);
  return sources.of(call, "blob", role);
}

/** Resolves a source that must be a blob on this server. */
export function ownBlobOf({ sources }: BlobFront, call: BlobCall): Promise<OwnSource> {
  requireNoHeaders(call.request.headers, ON_WHOLE_SOURCES);
  requireSupportedSource(call, []);
  return sources.ownBlobOf(call);
}

function requireSupportedSource({ request }: BlobCall, known: readonly string[]): void {
  requireSupportedOnCreation(request, known);
  requireNoHeaders(request.headers, UNSUPPORTED);
  requireNoBody(request);
}
