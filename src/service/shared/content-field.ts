import { bytes, count, type Field, oneOf, orNull, struct, text, u64 } from "../../base/fields.ts";
import type { Content } from "../../store/content.ts";

/** A content in the record of a blob, block or file. */
export const storedContent: Field<Content> = struct({
  id: u64,
  kind: oneOf("inline", "extent", "list", "map", "sealed"),
  length: count,
});

/** The headers that a client stores with a blob or file and gets back with it. */
export const contentProperties = struct({
  contentType: text,
  contentEncoding: text,
  contentLanguage: text,
  contentDisposition: text,
  cacheControl: text,
  contentMd5: orNull(bytes),
});
