import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { isDirectory } from "./directories.ts";
import { encryptedFields, requireKey } from "./encryption.ts";
import { withMark } from "./flat-directory.ts";
import { reviseBlob } from "./history.ts";
import type { Metadata } from "./records.ts";
import { type BlobWritten, nextRevision } from "./version.ts";

export interface SetBlobMetadata extends BlobUse {
  /** Replaces all metadata. */
  readonly metadata: Metadata;
}

export async function setBlobMetadata(
  context: BlobContext,
  asked: SetBlobMetadata,
): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { place, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.setBlobMetadata);
    requireKey(blob, asked);
    const written = nextRevision(context, tx, place, blob);
    const metadata = isDirectory(blob) ? withMark(asked.metadata) : asked.metadata;
    const next = { ...blob, ...written, ...encryptedFields(metadata, asked) };
    reviseBlob(context, tx, place, blob, next);
    return written;
  });
}
