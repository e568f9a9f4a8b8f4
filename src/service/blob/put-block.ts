import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { UNCOMMITTED_BLOCKS_MAX } from "../../base/limits.ts";
import { judgeOverwrite, type Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { blockIdBytes, judgeBlockId } from "../../rules/block-id.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { judgeByKey } from "../../rules/encryption.ts";
import { judgeWriteByLease, leaseAfterWrite } from "../../rules/lease.ts";
import { judgeByTier } from "../../rules/tier.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitToNewName, requireKind } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { requireNoDataLakeFile } from "./data-lake-file.ts";
import { makeParents } from "./directories.ts";
import { keySha256Of } from "./encryption.ts";
import type { BlobPlace } from "./find-path.ts";
import {
  type Blob,
  readStagedBlob,
  readStagedBlock,
  type StagedBlob,
  type StagedBlock,
  writeBlob,
  writeStagedBlob,
  writeStagedBlock,
} from "./records.ts";

/** A request that stages a block, wherever its bytes come from. */
export interface StageBlock extends BlobAsked {
  readonly blockId: string;
  readonly leaseId: string | null;
}

export interface PutBlock extends StageBlock {
  readonly body: Body;
  /** The digests that the client claims for the body. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. */
  readonly computed: Digests;
}

export interface PutBlockDone {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

/** Stages a block under a blob name. An existing blob does not change, except for its lease. */
export async function putBlock(context: BlobContext, asked: PutBlock): Promise<PutBlockDone> {
  await lookAhead(context.store, asked.body, (view) =>
    admitBlock(view, asked, BLOB_NEEDS.putBlock),
  );

  const taken = await context.contents.take(asked.body, asked.computed, asked.key?.bytes);
  try {
    await context.store.transact((tx) => {
      const admitted = admitBlock(tx, asked, BLOB_NEEDS.putBlock);
      requireDigests(asked.digests, taken);
      writeTaken(context, tx, asked, admitted, taken);
    });
    return { md5: taken.md5, crc64: taken.crc64 };
  } finally {
    taken.release();
  }
}

/** Stages the block, replacing the one with the same id. */
export function writeBlock(
  context: BlobContext,
  tx: Transaction,
  asked: StageBlock,
  admitted: AdmittedBlock,
  content: Content,
): void {
  const { replaced } = admitted;
  if (replaced !== null) context.contents.drop(tx, replaced.content);
  stage(context, tx, asked, admitted, content);
}

/** Stages newly taken bytes, which may take over the id of the replaced block's content. */
export function writeTaken(
  context: BlobContext,
  tx: Transaction,
  asked: StageBlock,
  admitted: AdmittedBlock,
  taken: Taken,
): void {
  const { contents } = context;
  const { replaced } = admitted;
  const content =
    replaced === null ? contents.keep(tx, taken) : contents.replace(tx, replaced.content, taken);
  stage(context, tx, asked, admitted, content);
}

function stage(
  context: BlobContext,
  tx: Transaction,
  asked: StageBlock,
  { place, old, staged, replaced }: AdmittedBlock,
  content: Content,
): void {
  const { blockId } = asked;
  const keySha256 = keySha256Of(asked);
  const next = nextStaged(tx, staged, replaced, blockId);
  writeStagedBlob(tx, makeParents(context, tx, place), next);
  if (replaced === null || !isSame(replaced.content, content) || hasOtherKey(replaced, asked)) {
    writeStagedBlock(tx, next, blockId, { content, keySha256 });
  }
  const lease = leaseAfterWrite(old?.lease ?? null, tx.now());
  if (old !== null && old.lease !== lease) writeBlob(tx, place, { ...old, lease });
}

function hasOtherKey({ keySha256 }: StagedBlock, asked: StageBlock): boolean {
  return judgeByKey(keySha256, asked.key ?? null) !== null;
}

function isSame(one: Content, other: Content): boolean {
  return one.id === other.id && one.kind === other.kind && one.length === other.length;
}

interface AdmittedBlock {
  readonly place: BlobPlace;
  /** The blob of that name. */
  readonly old: Blob | null;
  readonly staged: StagedBlob | null;
  /** The staged block with the same id. */
  readonly replaced: StagedBlock | null;
}

/** The order of these checks decides which error a client sees. */
export function admitBlock(view: View, asked: StageBlock, need: Need): AdmittedBlock {
  refuse(judgeBlockId(asked.blockId));
  const { container, place, old, found } = admitToNewName(view, asked, need, "BlockBlob");
  if (found !== null) refuse(judgeOverwrite(asked.access, container, view.now()));
  requireKind(old, "file");
  requireNoDataLakeFile(old);
  refuse(judgeWriteByLease(old?.lease ?? null, asked.leaseId, view.now(), "Blob"));
  refuse(judgeByPendingCopy(old?.copy ?? null));
  if (old !== null) refuse(judgeByTier(old.tier, view.now()));
  const staged = readStagedBlob(view, place);
  if (staged === null) return { place, old, staged, replaced: null };
  if (staged.blockIdBytes !== blockIdBytes(asked.blockId)) {
    throw new Fault("InvalidBlobOrBlock", {
      Reason: `All block ids of a blob must have one length: ${staged.blockIdBytes} bytes here.`,
    });
  }
  const replaced = readStagedBlock(view, staged, asked.blockId);
  if (replaced === null && staged.blocks >= UNCOMMITTED_BLOCKS_MAX) {
    throw new Fault("BlockCountExceedsLimit", {
      Reason: `The blob has ${staged.blocks} uncommitted blocks: commit them first.`,
    });
  }
  return { place, old, staged, replaced };
}

function nextStaged(
  tx: Transaction,
  staged: StagedBlob | null,
  replaced: StagedBlock | null,
  blockId: string,
): StagedBlob {
  const now = tx.now();
  return {
    id: staged?.id ?? tx.stamp(),
    changed: tx.stamp(),
    firstMs: staged?.firstMs ?? now,
    lastMs: now,
    blocks: (staged?.blocks ?? 0) + (replaced === null ? 1 : 0),
    blockIdBytes: blockIdBytes(blockId),
  };
}
