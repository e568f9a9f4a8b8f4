import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type BlobProperties, writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

export interface SetBlobProperties extends BlobUse {
  /** All of them: what is empty here is cleared. */
  readonly properties: BlobProperties;
}

export async function setBlobProperties(
  context: BlobContext,
  asked: SetBlobProperties,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const { container, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.setBlobProperties);
    const version = nextBlobVersion(tx, blob);
    writeBlob(tx, container, asked.at.blob, { ...blob, ...version, properties: asked.properties });
    return version;
  });
}
