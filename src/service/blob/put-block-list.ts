import { inSlices } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import { COMMITTED_BLOCKS_MAX } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { tierOnUpload } from "../../rules/tier.ts";
import type { Content } from "../../store/content.ts";
import type { Draft } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitBlobCreation } from "./admit.ts";
import { hasMoved, lookAtBlocks, PAGE_BLOCKS, readBlockLists, type Seen } from "./block-lists.ts";
import { type BlockPlan, type BlockReference, planBlocks, planInSteps } from "./block-plan.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import { requireNoDataLakeFile } from "./data-lake-file.ts";
import { encryptedFields } from "./encryption.ts";
import { replaceBlob, replaceParts } from "./history.ts";
import {
  type Blob,
  type BlobProperties,
  deleteStagedBlob,
  type Metadata,
  readStagedBlob,
} from "./records.ts";
import { type BlobWritten, blockBlob, nextRevision } from "./version.ts";

export interface PutBlockList extends BlobCreation {
  /** The blocks of the new blob, in order. */
  readonly blocks: readonly BlockReference[];
  /** `contentMd5` is stored unchecked, because the blob's bytes are not read here. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
}

/** Attempts to look the blocks up before the transaction without a concurrent change. */
const TRIES_MAX = 3;

/** Up to this many blocks are looked up within the transaction. */
export const FEW_BLOCKS = 256;

export async function putBlockList(
  context: BlobContext,
  asked: PutBlockList,
): Promise<BlobWritten> {
  if (asked.blocks.length > COMMITTED_BLOCKS_MAX) throw new Fault("BlockListTooLong");
  return (await commitAmong(context, asked, FEW_BLOCKS)) ?? (await commitMany(context, asked));
}

/** Null, without effect, if the request or the name has more than `blocksMax` blocks. */
async function commitAmong(
  context: BlobContext,
  asked: PutBlockList,
  blocksMax: number,
): Promise<BlobWritten | null> {
  if (asked.blocks.length > blocksMax) return null;
  return context.store.transact((tx) => {
    const lists = readBlockLists(tx, context.contents, admit(tx, asked), blocksMax);
    if (lists === null) return null;
    const plan = planBlocks(lists, asked);
    return commit(context, tx, asked, lists.seen, plan);
  });
}

/**
 * Looks up many blocks in pages before the transaction, which then only checks that they have not
 * changed. If they keep changing, the transaction looks them up itself. If they are too many for
 * that, because it would delay all other requests, answers ServerBusy.
 */
async function commitMany(context: BlobContext, asked: PutBlockList): Promise<BlobWritten> {
  const look = (view: View) => admit(view, asked);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const lists = await lookAtBlocks(context, look);
    if (lists === null) break;
    const plan = await inSlices(planInSteps(lists, asked));
    const isLong = asked.blocks.length > PAGE_BLOCKS;
    const done = isLong
      ? await commitDraft(context, asked, lists.seen, plan)
      : await commitAtOnce(context, asked, lists.seen, plan);
    if (done !== null) return done;
  }
  const done = await commitAmong(context, asked, PAGE_BLOCKS);
  if (done === null) throw new Fault("ServerBusy");
  return done;
}

/** Null if the blocks have changed since they were looked up. */
function commitAtOnce(
  context: BlobContext,
  asked: PutBlockList,
  looked: Seen,
  plan: BlockPlan,
): Promise<BlobWritten | null> {
  return context.store.transact((tx) => {
    const seen = admit(tx, asked);
    if (hasMoved(looked, seen)) return null;
    return commit(context, tx, asked, seen, plan);
  });
}

/** Commits in several transactions, so that many blocks do not delay other requests. */
async function commitDraft(
  context: BlobContext,
  asked: PutBlockList,
  looked: Seen,
  plan: BlockPlan,
): Promise<BlobWritten | null> {
  const holds = (view: View) => !hasMoved(looked, admit(view, asked));
  const draft = await context.contents.draft(plan.parts, holds);
  if (draft === null) return null;
  try {
    return await context.store.transact((tx) => {
      const seen = admit(tx, asked);
      if (hasMoved(looked, seen)) return null;
      return adoptDraft(context, tx, asked, seen, draft);
    });
  } finally {
    draft.release();
  }
}

function admit(view: View, asked: PutBlockList): Seen {
  const { place, old } = admitBlobCreation(view, asked, BLOB_NEEDS.putBlockList, "BlockBlob");
  requireNoDataLakeFile(old);
  return { place, old, staged: readStagedBlob(view, place) };
}

function commit(
  context: BlobContext,
  tx: Transaction,
  asked: PutBlockList,
  seen: Seen,
  plan: BlockPlan,
): BlobWritten {
  const { place, old } = seen;
  const next = nextBlob(context, tx, asked, seen);
  context.contents.prefetchDrops(tx, () => plan.drops);
  for (const content of plan.drops) context.contents.drop(tx, content);
  const blob = replaceParts(context, tx, place, old, plan, next);
  endStaged(tx, seen, plan.dropsStaged);
  return blob;
}

/** A draft has its own references, so the sweeper drops those of the staged blocks. */
function adoptDraft(
  context: BlobContext,
  tx: Transaction,
  asked: PutBlockList,
  seen: Seen,
  draft: Draft,
): BlobWritten {
  const { place, old } = seen;
  const blob = nextBlob(context, tx, asked, seen)(draft.adopt(tx));
  replaceBlob(context, tx, place, old, blob);
  endStaged(tx, seen, true);
  return blob;
}

function nextBlob(
  context: BlobContext,
  tx: Transaction,
  asked: PutBlockList,
  { place, old }: Seen,
): (content: Content) => Blob {
  const written = nextRevision(context, tx, place, old);
  const tier = tierOnUpload(asked.tier, old?.tier ?? null, tx.now());
  const { contentMd5 } = asked.properties;
  return (content) =>
    blockBlob(written, asked, encryptedFields(asked.metadata, asked), tier, content, contentMd5);
}

function endStaged(tx: Transaction, { place, staged }: Seen, dropContents: boolean): void {
  if (staged !== null) deleteStagedBlob(tx, place, staged, { dropContents });
}
