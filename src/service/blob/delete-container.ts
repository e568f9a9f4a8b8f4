import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { refuseWriteByConditions } from "../../rules/conditions.ts";
import { refuseWriteByLease } from "../../rules/lease.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerUpdate } from "./context.ts";
import { deleteContainer as deleteRecord } from "./records.ts";

/** The name is free at once, whatever the container held: the sweeper removes that. */
export async function deleteContainer(context: BlobContext, asked: ContainerUpdate): Promise<void> {
  await context.store.transact((tx) => {
    const container = admitToContainer(tx, asked, BLOB_NEEDS.deleteContainer);
    refuse(refuseWriteByConditions(container, asked.conditions));
    refuse(refuseWriteByLease(container.lease, asked.leaseId, tx.now(), "Container"));
    deleteRecord(tx, asked.at, container);
  });
}
