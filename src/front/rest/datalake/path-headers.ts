import { rfc1123 } from "../../../base/time-text.ts";
import { kindOf } from "../../../service/blob/flat-directory.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
import { shownPermissions } from "../../../service/blob/shown-access-control.ts";
import {
  accessControlHeaders,
  encryptionContextHeaders,
  expiryHeaders,
} from "../blob/blob-headers.ts";
import { propertyHeaders } from "../content-properties.ts";
import { leaseHeaders, versionHeaders } from "../response-headers.ts";
import { propertyPairHeaders } from "./path-properties.ts";

/** The headers that the system gives a path. */
export function statusHeaders({ blob, lease }: BlobFound): string[] {
  return [
    ...versionHeaders(blob),
    "x-ms-resource-type",
    kindOf(blob),
    ...(lease === null ? [] : leaseHeaders(lease)),
    "x-ms-creation-time",
    rfc1123(blob.createdMs),
    ...expiryHeaders(blob),
    ...encryptionContextHeaders(blob.terms),
    ...(blob.path === null ? [] : accessControlHeaders(shownPermissions(blob.path.control))),
  ];
}

/** The headers of a path that is read, with those that its users gave it. */
export function pathHeaders(found: BlobFound): string[] {
  const { blob } = found;
  return [
    ...statusHeaders(found),
    ...propertyHeaders(blob.properties),
    "Accept-Ranges",
    "bytes",
    ...propertyPairHeaders(blob.metadata),
  ];
}
