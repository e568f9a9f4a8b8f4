import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import type { Blob } from "./records.ts";

export interface BlobFound {
  readonly blob: Blob;
  readonly isCurrent: boolean;
  /** Null unless it is current: nothing else can be leased. */
  readonly lease: LeaseStatus | null;
}

export async function getBlobProperties(context: BlobContext, asked: BlobRead): Promise<BlobFound> {
  return context.store.read((view) => {
    const { blob, isCurrent } = admitBlobRead(view, asked, BLOB_NEEDS.getBlobProperties);
    return { blob, isCurrent, lease: isCurrent ? leaseStatus(blob.lease, view.now()) : null };
  });
}
