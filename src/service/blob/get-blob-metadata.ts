import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import type { Blob } from "./records.ts";

export async function getBlobMetadata(context: BlobContext, asked: BlobRead): Promise<Blob> {
  return context.store.read((view) => admitBlobRead(view, asked, BLOB_NEEDS.getBlobMetadata).blob);
}
