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

/** What they are called in requests, where each service has its own prefix. */
export type PropertyNames = Readonly<Record<keyof ContentProperties, string>>;

export function namesBehind(prefix: string): PropertyNames {
  return {
    contentType: `${prefix}content-type`,
    contentEncoding: `${prefix}content-encoding`,
    contentLanguage: `${prefix}content-language`,
    contentDisposition: `${prefix}content-disposition`,
    cacheControl: `${prefix}cache-control`,
    contentMd5: `${prefix}content-md5`,
  };
}

/** What is not sent is empty. */
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

/** Whether a request names any of them. */
export function hasContentProperties(headers: RequestHeaders, names: PropertyNames): boolean {
  return Object.values(names).some((name) => headers.get(name) !== undefined);
}

/** The same headers on the way out, as far as they are set; the MD5 stands elsewhere. */
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

/** Puts the headers that a SAS prescribes in the place of the blob's own. */
export function withOverrides(headers: string[], overrides: readonly string[]): string[] {
  if (overrides.length === 0) return headers;
  const replaced = new Set<string>();
  for (let at = 0; at < overrides.length; at += 2) {
    replaced.add((overrides[at] as string).toLowerCase());
  }
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!replaced.has(name.toLowerCase())) kept.push(name, headers[at + 1] as string);
  }
  return [...kept, ...overrides];
}
