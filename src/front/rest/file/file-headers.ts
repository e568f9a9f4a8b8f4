import type { FileFound } from "../../../service/file/get-file-properties.ts";
import type { FileProperties } from "../../../service/file/tree-records.ts";
import {
  contentPropertiesOf,
  DEFAULT_CONTENT_TYPE,
  hasContentProperties,
  namesWithPrefix,
  propertyHeaders,
} from "../content-properties.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { copyHeaders, leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";
import { itemHeaders } from "./item-headers.ts";

const NAMES = namesWithPrefix("x-ms-");

/** The headers that a client stores with a file. */
export function filePropertiesOf(headers: RequestHeaders): FileProperties {
  const found = contentPropertiesOf(headers, NAMES);
  return { ...found, contentType: found.contentType || DEFAULT_CONTENT_TYPE };
}

/**
 * Reads new properties, which replace all old ones: those that are not sent are cleared. Null for a
 * request that resizes the file and names none of them, which leaves them unchanged.
 */
export function changedFilePropertiesOf(
  headers: RequestHeaders,
  isResize: boolean,
): FileProperties | null {
  if (isResize && !hasContentProperties(headers, NAMES)) return null;
  return contentPropertiesOf(headers, NAMES);
}

/** Formats the headers that every response about a whole file has, with or without its bytes. */
export function fileHeaders({ file, lease }: FileFound): string[] {
  return [
    ...versionHeaders(file),
    ...propertyHeaders(file.properties),
    "x-ms-type",
    "File",
    "x-ms-server-encrypted",
    "true",
    ...itemHeaders(file),
    ...(file.copy === null ? [] : copyHeaders(file.copy)),
    ...leaseHeaders(lease),
    ...metadataHeaders(file.metadata),
  ];
}
