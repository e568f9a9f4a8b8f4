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

/** The headers that a client stores with a blob. Missing ones are empty. */
export function propertiesOf(headers: RequestHeaders): BlobProperties {
  return contentPropertiesOf(headers, PROPERTY_NAMES);
}

/** Requires a valid MD5, if one is sent, for writes that compare it with the blob's bytes. */
export function requireMd5(headers: RequestHeaders): void {
  md5Of(headers, PROPERTY_NAMES.contentMd5);
}

/** Whether a request has any of the property headers. */
export function hasProperties(headers: RequestHeaders): boolean {
  return hasContentProperties(headers, PROPERTY_NAMES);
}

/** Properties of a blob that is the request's body, which standard headers describe too. */
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

/** Properties of a blob made from a block list, which the standard headers do not describe. */
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
