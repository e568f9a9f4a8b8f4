import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { decrypted, requireKey } from "./encryption.ts";
import type { Blob } from "./records.ts";

export async function getBlobMetadata(context: BlobContext, asked: BlobRead): Promise<Blob> {
  return context.store.read((view) => {
    const { blob } = admitBlobRead(view, asked, BLOB_NEEDS.getBlobMetadata);
    requireKey(blob, asked);
    return decrypted(blob, asked);
  });
}
