import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import { replaceBlob } from "./history.ts";
import { type BlobProperties, type Metadata, NEW_BLOB } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, nextRevision } from "./version.ts";

/** Put Blob of a page or append blob, which begins without bytes of its own. */
export interface CreateBlob extends BlobCreation {
  readonly type: "PageBlob" | "AppendBlob";
  /** What a page blob holds at first, all zeroes; an append blob begins with none. */
  readonly length: number;
  readonly sequenceNumber: bigint;
  /** `contentMd5` is stored as it comes. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
}

export async function createBlob(context: BlobContext, asked: CreateBlob): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { container, old } = admitBlobCreation(tx, asked, BLOB_NEEDS.putBlob);
    const written = nextRevision(context, tx, asked.at, old);
    replaceBlob(context, tx, { at: asked.at, container }, old, {
      ...NEW_BLOB,
      ...written,
      type: asked.type,
      content: context.contents.maps.create(tx, asked.length),
      properties: asked.properties,
      metadata: asked.metadata,
      tags: asked.tags,
      sequenceNumber: asked.sequenceNumber,
    });
    dropStagedBlocks(tx, container, asked.at.blob);
    return written;
  });
}
