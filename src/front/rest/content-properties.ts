import type { Bytes } from "../../base/bytes.ts";
import type { RequestHeaders } from "./http/exchange.ts";
import { storedMd5Of } from "./request-headers.ts";

/** The headers that a client stores with a blob or file and gets back with it. */
export interface ContentProperties {
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly contentLanguage: string;
  readonly contentDisposition: string;
  readonly cacheControl: string;
  readonly contentMd5: Bytes | null;
}

export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** The request header for each property. Each service has its own prefix. */
export type PropertyNames = Readonly<Record<keyof ContentProperties, string>>;

export function namesWithPrefix(prefix: string): PropertyNames {
  return {
    contentType: `${prefix}content-type`,
    contentEncoding: `${prefix}content-encoding`,
    contentLanguage: `${prefix}content-language`,
    contentDisposition: `${prefix}content-disposition`,
    cacheControl: `${prefix}cache-control`,
    contentMd5: `${prefix}content-md5`,
  };
}

/** Reads the content properties from a request. A header that is not sent is "". */
export function contentPropertiesOf(
  headers: RequestHeaders,
  names: PropertyNames,
): ContentProperties {
  return {
    contentType: headers.get(names.contentType) ?? "",
    contentEncoding: headers.get(names.contentEncoding) ?? "",
    contentLanguage: headers.get(names.contentLanguage) ?? "",
    contentDisposition: headers.get(names.contentDisposition) ?? "",
    cacheControl: headers.get(names.cacheControl) ?? "",
    contentMd5: storedMd5Of(headers, names.contentMd5),
  };
}

/** Whether a request sends any content property. */
export function hasContentProperties(headers: RequestHeaders, names: PropertyNames): boolean {
  return Object.values(names).some((name) => headers.get(name) !== undefined);
}

/** Formats the properties that are set as response headers. The MD5 is formatted elsewhere. */
export function propertyHeaders(properties: ContentProperties): string[] {
  const headers: string[] = [];
  const add = (name: string, value: string) => {
    if (value !== "") headers.push(name, value);
  };
  add("Content-Type", properties.contentType);
  add("Content-Encoding", properties.contentEncoding);
  add("Content-Language", properties.contentLanguage);
  add("Content-Disposition", properties.contentDisposition);
  add("Cache-Control", properties.cacheControl);
  return headers;
}

/** Replaces the stored headers by those that a SAS prescribes. */
export function withOverrides(headers: string[], overrides: readonly string[]): string[] {
  if (overrides.length === 0) return headers;
  const replaced = new Set<string>();
  for (let at = 0; at < overrides.length; at += 2) {
    replaced.add((overrides[at] as string).toLowerCase());
  }
  const remaining: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!replaced.has(name.toLowerCase())) remaining.push(name, headers[at + 1] as string);
  }
  return [...remaining, ...overrides];
}
