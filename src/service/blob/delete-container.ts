import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import { endOfRetention } from "../../rules/retention.ts";
import { admitToContainer } from "./admit.ts";
import { type BlobContext, type ContainerUpdate, settingsOf } from "./context.ts";
import { writeDeletedContainer } from "./deleted-containers.ts";
import { deleteContainer as deleteRecord, doomContainer } from "./records.ts";

/**
 * Deletes a container and frees its name at once. Its blobs stay until the retention ends; then the
 * sweeper removes them.
 */
export async function deleteContainer(context: BlobContext, asked: ContainerUpdate): Promise<void> {
  await context.store.transact((tx) => {
    const container = admitToContainer(tx, asked, BLOB_NEEDS.deleteContainer);
    refuse(judgeWriteByConditions(container, asked.conditions));
    refuse(judgeWriteByLease(container.lease, asked.leaseId, tx.now(), "Container"));
    deleteRecord(tx, asked.at);
    const days = settingsOf(context, asked.at.account).containerRetentionDays;
    if (days === null) {
      doomContainer(tx, container);
      return;
    }
    writeDeletedContainer(tx, asked.at, tx.stamp(), {
      deletedMs: tx.now(),
      untilMs: endOfRetention(tx.now(), days),
      container: { ...container, lease: null },
    });
  });
}
