import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type BlobProperties, type Metadata, NEW_BLOB, writeBlob } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { nextBlobVersion } from "./version.ts";

/** Put Blob of a page or append blob, which begins without bytes of its own. */
export interface CreateBlob extends BlobUse {
  readonly type: "PageBlob" | "AppendBlob";
  /** What a page blob holds at first, all zeroes; an append blob begins with none. */
  readonly length: number;
  readonly sequenceNumber: bigint;
  /** `contentMd5` is stored as it comes. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
}

export async function createBlob(context: BlobContext, asked: CreateBlob): Promise<Versioned> {
  return context.store.transact((tx) => {
    const { container, old } = admitBlobCreation(tx, asked, BLOB_NEEDS.putBlob);
    const version = nextBlobVersion(tx, old);
    writeBlob(tx, container, asked.at.blob, {
      ...NEW_BLOB,
      ...version,
      type: asked.type,
      content: context.contents.maps.create(tx, asked.length),
      properties: asked.properties,
      metadata: asked.metadata,
      sequenceNumber: asked.sequenceNumber,
    });
    dropStagedBlocks(tx, container, asked.at.blob);
    if (old !== null) context.contents.drop(tx, old.content);
    return version;
  });
}
