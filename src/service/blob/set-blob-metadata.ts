import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type Metadata, writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

export interface SetBlobMetadata extends BlobUse {
  /** All of it: what is not here is gone. */
  readonly metadata: Metadata;
}

export async function setBlobMetadata(
  context: BlobContext,
  asked: SetBlobMetadata,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const { container, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.setBlobMetadata);
    const version = nextBlobVersion(tx, blob);
    writeBlob(tx, container, asked.at.blob, { ...blob, ...version, metadata: asked.metadata });
    return version;
  });
}
