import type { Bytes } from "../../base/bytes.ts";
import type { StoredTier } from "../../rules/tier.ts";
import type { Content } from "../../store/content.ts";
import { type Blob, NEW_BLOB } from "./records.ts";
import type { NextRevision } from "./version.ts";

/** Builds a new block blob. Names every field because spreads are five times as slow. */
export function blockBlob(
  { etag, createdMs, modifiedMs, lease, versionId }: NextRevision,
  { properties, metadata, tags }: Pick<Blob, "properties" | "metadata" | "tags">,
  tier: StoredTier | null,
  content: Content,
  contentMd5: Bytes | null,
): Blob {
  const { contentType, contentEncoding, contentLanguage } = properties;
  const { contentDisposition, cacheControl } = properties;
  return {
    type: "BlockBlob",
    etag,
    createdMs,
    modifiedMs,
    content,
    properties: {
      contentType,
      contentEncoding,
      contentLanguage,
      contentDisposition,
      cacheControl,
      contentMd5,
    },
    metadata,
    lease,
    sequenceNumber: NEW_BLOB.sequenceNumber,
    appendedBlocks: NEW_BLOB.appendedBlocks,
    isSealed: NEW_BLOB.isSealed,
    copy: NEW_BLOB.copy,
    versionId,
    tags,
    tier,
  };
}
