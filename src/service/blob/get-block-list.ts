import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeReadByLease } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import {
  admitToBlobName,
  admitToRevision,
  requireReadableTier,
  requireTagConditions,
} from "./admit.ts";
import {
  type BlockLists,
  lookAtBlocks,
  PAGE_BLOCKS,
  readBlockLists,
  type Seen,
} from "./block-lists.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { type Blob, type Container, readStagedBlob } from "./records.ts";

/** Only the condition on tags is checked. */
export interface GetBlockList extends BlobRead {
  /** Whether data that Data Lake has appended and not flushed counts as blocks: for exports. */
  readonly withAppended?: boolean;
}

export async function getBlockList(context: BlobContext, asked: GetBlockList): Promise<BlockLists> {
  const look = (view: View) => admit(view, asked);
  const readAtOnce = (view: View) =>
    readBlockLists(view, context.contents, look(view), PAGE_BLOCKS);
  const lists = (await lookAtBlocks(context, look)) ?? (await context.store.read(readAtOnce));
  if (lists === null) throw new Fault("ServerBusy");
  return lists;
}

/** Uncommitted blocks can be listed before a blob exists. */
function admit(view: View, asked: GetBlockList): Seen {
  if (asked.at.revision !== null) {
    const { container, place, blob } = admitToRevision(
      view,
      asked,
      BLOB_NEEDS.getBlockList,
      "BlockBlob",
    );
    requireReadable(view, asked, container, blob);
    return { place, old: blob, staged: null };
  }
  const { container, place, old } = admitToBlobName(
    view,
    asked,
    BLOB_NEEDS.getBlockList,
    "BlockBlob",
  );
  const staged = readStagedBlob(view, place);
  if (old === null && staged === null) throw new Fault("BlobNotFound");
  requireReadable(view, asked, container, old);
  // Data that Data Lake has appended is no block.
  const isHidden = old?.isDataLake === true && asked.withAppended !== true;
  return { place, old, staged: isHidden ? null : staged };
}

function requireReadable(
  view: View,
  asked: GetBlockList,
  container: Container,
  blob: Blob | null,
): void {
  requireTagConditions(view, asked, container, blob);
  refuse(judgeReadByLease(blob?.lease ?? null, asked.leaseId, view.now(), "Blob"));
  requireReadableTier(view, asked, blob);
}
