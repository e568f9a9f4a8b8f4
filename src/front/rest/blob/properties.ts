import type { BlobProperties } from "../../../service/blob/records.ts";
import {
  contentPropertiesOf,
  DEFAULT_CONTENT_TYPE,
  hasContentProperties,
  namesWithPrefix,
} from "../content-properties.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { md5Of } from "../request-headers.ts";

export const PROPERTY_NAMES = namesWithPrefix("x-ms-blob-");

/** The headers that a client stores with a blob. What it does not send is empty. */
export function propertiesOf(headers: RequestHeaders): BlobProperties {
  return contentPropertiesOf(headers, PROPERTY_NAMES);
}

/** For writes that compare `contentMd5` with the blob's bytes: nothing but an MD5 will do. */
export function requireMd5(headers: RequestHeaders): void {
  md5Of(headers, PROPERTY_NAMES.contentMd5);
}

/** Whether a request names any of them. */
export function hasProperties(headers: RequestHeaders): boolean {
  return hasContentProperties(headers, PROPERTY_NAMES);
}

/** Where the body is the blob, the standard headers describe it too. */
export function propertiesOfBody(headers: RequestHeaders): BlobProperties {
  const own = propertiesOf(headers);
  return {
    contentType: own.contentType || headers.get("content-type") || DEFAULT_CONTENT_TYPE,
    contentEncoding: own.contentEncoding || (headers.get("content-encoding") ?? ""),
    contentLanguage: own.contentLanguage || (headers.get("content-language") ?? ""),
    contentDisposition: own.contentDisposition,
    cacheControl: own.cacheControl || (headers.get("cache-control") ?? ""),
    contentMd5: own.contentMd5,
  };
}

/** Where the body is a list of what makes the blob, only the headers of its own describe it. */
export function propertiesOfList(headers: RequestHeaders): BlobProperties {
  const own = propertiesOf(headers);
  return {
    contentType: own.contentType || DEFAULT_CONTENT_TYPE,
    contentEncoding: own.contentEncoding,
    contentLanguage: own.contentLanguage,
    contentDisposition: own.contentDisposition,
    cacheControl: own.cacheControl,
    contentMd5: own.contentMd5,
  };
}
