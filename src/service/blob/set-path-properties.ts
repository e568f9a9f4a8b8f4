import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { encryptedFields, requireKey } from "./encryption.ts";
import { kindOf, withMark } from "./flat-directory.ts";
import { reviseBlob } from "./history.ts";
import type { BlobProperties, Metadata } from "./records.ts";
import { type BlobWritten, nextRevision } from "./version.ts";

export interface SetPathProperties extends BlobUse {
  /** Replaces all metadata. */
  readonly metadata: Metadata;
  /** Only those that change. */
  readonly properties: Partial<BlobProperties>;
}

export async function setPathProperties(
  context: BlobContext,
  asked: SetPathProperties,
): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { place, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.setBlobProperties);
    requireKey(blob, asked);
    const written = nextRevision(context, tx, place, blob);
    const isDirectory = kindOf(blob) === "directory";
    const metadata = isDirectory ? withMark(asked.metadata) : asked.metadata;
    reviseBlob(context, tx, place, blob, {
      ...blob,
      ...written,
      ...encryptedFields(metadata, asked),
      properties: { ...blob.properties, ...asked.properties },
    });
    return written;
  });
}
