import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { admitContainerRead } from "./admit.ts";
import type { BlobContext, ContainerRead } from "./context.ts";
import type { Container } from "./records.ts";

export interface ContainerProperties {
  readonly container: Container;
  readonly lease: LeaseStatus;
}

export async function getContainerProperties(
  context: BlobContext,
  asked: ContainerRead,
): Promise<ContainerProperties> {
  return context.store.read((view) => {
    const container = admitContainerRead(view, asked, BLOB_NEEDS.getContainerProperties);
    return { container, lease: leaseStatus(container.lease, view.now()) };
  });
}
