import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import { type DeletionPast, deletionAsOf } from "../shared/past.ts";
import { admitToContainer } from "./admit.ts";
import { type BlobContext, type ContainerUpdate, settingsOf } from "./context.ts";
import { readDeletedContainer, writeDeletedContainer } from "./deleted-containers.ts";
import { deleteContainer as deleteRecord, doomContainer } from "./records.ts";

export interface DeleteContainer extends ContainerUpdate {
  /** What an import knows of the deletion. */
  readonly past?: DeletionPast | null;
}

/**
 * Deletes a container and frees its name at once. Its blobs stay until the retention ends; then the
 * sweeper removes them.
 */
export async function deleteContainer(context: BlobContext, asked: DeleteContainer): Promise<void> {
  await context.store.transact((tx) => {
    const container = admitToContainer(tx, asked, BLOB_NEEDS.deleteContainer);
    refuse(judgeWriteByConditions(container, asked.conditions));
    refuse(judgeWriteByLease(container.lease, asked.leaseId, tx.now(), "Container"));
    deleteRecord(tx, asked.at);
    const { containerRetentionDays } = settingsOf(context, asked.at.account);
    const deletion = deletionAsOf(tx, asked, asked.at.container, containerRetentionDays);
    if (deletion === null) {
      doomContainer(tx, container);
      return;
    }
    const { name, version, deletedMs, untilMs } = deletion;
    const was = { ...asked.at, container: name };
    if (readDeletedContainer(tx, was, version) !== null) {
      throw new Fault("ContainerAlreadyExists");
    }
    const value = { deletedMs, untilMs, container: { ...container, lease: null } };
    writeDeletedContainer(tx, was, version, value);
  });
}
