import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Tags } from "../../rules/tags.ts";
import { admitBlobLook } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { requireFlat } from "./hierarchical-limits.ts";

export async function getBlobTags(context: BlobContext, asked: BlobRead): Promise<Tags> {
  return context.store.read((view) => {
    const { container, blob } = admitBlobLook(view, asked, BLOB_NEEDS.getBlobTags);
    requireFlat(container, "tags");
    return blob.tags;
  });
}
