import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import { encryptedFields } from "./encryption.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import { replaceBlob } from "./history.ts";
import { type BlobProperties, type Metadata, NEW_BLOB } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, nextRevision } from "./version.ts";

/** Put Blob of a page or append blob, whose request has no body. */
export interface CreateBlob extends BlobCreation {
  readonly type: "PageBlob" | "AppendBlob";
  /** The size of a page blob, which begins as zeroes; 0 for an append blob. */
  readonly length: number;
  readonly sequenceNumber: bigint;
  /** `contentMd5` is stored as it comes. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
}

export async function createBlob(context: BlobContext, asked: CreateBlob): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { container, place, old } = admitBlobCreation(tx, asked, BLOB_NEEDS.putBlob);
    if (asked.type === "PageBlob") requireFlat(container, "page blobs");
    const written = nextRevision(context, tx, place, old);
    replaceBlob(context, tx, place, old, {
      ...NEW_BLOB,
      ...written,
      type: asked.type,
      content: context.contents.maps.create(tx, asked.length),
      properties: asked.properties,
      ...encryptedFields(asked.metadata, asked),
      tags: asked.tags,
      sequenceNumber: asked.sequenceNumber,
    });
    dropStagedBlocks(tx, place);
    return written;
  });
}
