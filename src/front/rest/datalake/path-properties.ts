import { Fault } from "../../../base/fault.ts";
import { METADATA_BYTES_MAX } from "../../../base/limits.ts";
import type { BlobProperties, Metadata } from "../../../service/blob/records.ts";
import {
  type ContentProperties,
  contentPropertiesOf,
  namesWithPrefix,
} from "../content-properties.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, METADATA_NAME } from "../request-headers.ts";

const PROPERTIES = "x-ms-properties";
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Reads `name=value, …` with values in Base64; null if the header is not sent. The Blob service
 * shows the same pairs as metadata.
 */
export function propertyPairsOf(headers: RequestHeaders): Metadata | null {
  const value = headers.get(PROPERTIES);
  if (value === undefined) return null;
  const pairs: [string, string][] = [];
  const names = new Set<string>();
  let size = 0;
  for (const part of value.split(",")) {
    if (part.trim() === "") continue;
    const [name, text] = pairOf(part);
    if (names.has(name.toLowerCase())) throw invalidHeader(PROPERTIES, name, "It is given twice.");
    names.add(name.toLowerCase());
    size += name.length + text.length;
    pairs.push([name, text]);
  }
  if (size > METADATA_BYTES_MAX) throw new Fault("MetadataTooLarge");
  return pairs;
}

function pairOf(part: string): [name: string, value: string] {
  const equals = part.indexOf("=");
  const name = part.slice(0, Math.max(equals, 0)).trim();
  const encoded = part.slice(equals + 1).trim();
  if (name === "") throw new Fault("EmptyMetadataKey");
  if (!METADATA_NAME.test(name)) throw new Fault("InvalidMetadata", { PropertyName: name });
  if (!BASE64.test(encoded) || encoded.length % 4 !== 0) {
    throw invalidHeader(PROPERTIES, part.trim(), "Values are in Base64: name=dmFsdWU=.");
  }
  // Metadata is stored as headers bring it: a character for each byte.
  return [name, Buffer.from(encoded, "base64").toString("latin1")];
}

/** The header with all pairs; none if there are no pairs. */
export function propertyPairHeaders(metadata: Metadata): string[] {
  if (metadata.length === 0) return [];
  const pairs = metadata.map(
    ([name, value]) => `${name}=${Buffer.from(value, "latin1").toString("base64")}`,
  );
  return [PROPERTIES, pairs.join(",")];
}

const NAMES = namesWithPrefix("x-ms-");

/** The headers that a client stores with a path. Missing ones are empty. */
export function contentPropertiesOfPath(headers: RequestHeaders): BlobProperties {
  return contentPropertiesOf(headers, NAMES);
}

/** Only the properties that a request names. */
export function namedProperties(headers: RequestHeaders): Partial<BlobProperties> {
  const named = PROPERTIES_BY_NAME.filter(([, name]) => headers.get(name) !== undefined);
  if (named.length === 0) return NONE;
  const all = contentPropertiesOfPath(headers);
  return Object.fromEntries(named.map(([property]) => [property, all[property]]));
}

const PROPERTIES_BY_NAME = Object.entries(NAMES) as [keyof ContentProperties, string][];
const NONE: Partial<BlobProperties> = {};
