import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import type { Blob } from "./records.ts";

export interface BlobFound {
  readonly blob: Blob;
  readonly lease: LeaseStatus;
}

export async function getBlobProperties(context: BlobContext, asked: BlobUse): Promise<BlobFound> {
  return context.store.read((view) => {
    const blob = admitBlobRead(view, asked, BLOB_NEEDS.getBlobProperties);
    return { blob, lease: leaseStatus(blob.lease, view.now()) };
  });
}
