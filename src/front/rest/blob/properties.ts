import type { BlobProperties } from "../../../service/blob/records.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { md5Of } from "../request-headers.ts";

export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** The headers that a client stores with a blob. What it does not send is empty. */
export function propertiesOf(headers: RequestHeaders): BlobProperties {
  return {
    contentType: headers.get("x-ms-blob-content-type") ?? "",
    contentEncoding: headers.get("x-ms-blob-content-encoding") ?? "",
    contentLanguage: headers.get("x-ms-blob-content-language") ?? "",
    contentDisposition: headers.get("x-ms-blob-content-disposition") ?? "",
    cacheControl: headers.get("x-ms-blob-cache-control") ?? "",
    contentMd5: md5Of(headers, "x-ms-blob-content-md5"),
  };
}

const NAMES = [
  "x-ms-blob-content-type",
  "x-ms-blob-content-encoding",
  "x-ms-blob-content-language",
  "x-ms-blob-content-disposition",
  "x-ms-blob-cache-control",
  "x-ms-blob-content-md5",
];

/** Whether a request names any of them. */
export function hasProperties(headers: RequestHeaders): boolean {
  return NAMES.some((name) => headers.get(name) !== undefined);
}

/** Where the body is the blob, the standard headers describe it too. */
export function propertiesOfBody(headers: RequestHeaders): BlobProperties {
  const own = propertiesOf(headers);
  return {
    ...own,
    contentType: own.contentType || headers.get("content-type") || DEFAULT_CONTENT_TYPE,
    contentEncoding: own.contentEncoding || (headers.get("content-encoding") ?? ""),
    contentLanguage: own.contentLanguage || (headers.get("content-language") ?? ""),
    cacheControl: own.cacheControl || (headers.get("cache-control") ?? ""),
  };
}

/** The same headers on the way out, as far as they are set; the MD5 stands elsewhere. */
export function propertyHeaders(properties: BlobProperties): string[] {
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
