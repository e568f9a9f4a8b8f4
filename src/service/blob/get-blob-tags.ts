import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Tags } from "../../rules/tags.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";

export async function getBlobTags(context: BlobContext, asked: BlobRead): Promise<Tags> {
  return context.store.read((view) => {
    return admitBlobRead(view, asked, BLOB_NEEDS.getBlobTags).blob.tags;
  });
}
