import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, refuseByDigests } from "../../base/digests.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { UNCOMMITTED_BLOCKS_MAX } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { blockIdBytes, refuseBlockId } from "../../rules/block-id.ts";
import { refuseWriteByLease } from "../../rules/lease.ts";
import { refuseByTier } from "../../rules/tier.ts";
import { lookAhead } from "../../store/look-ahead.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitToBlobName } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import {
  type Container,
  readStagedBlob,
  readStagedBlock,
  type StagedBlob,
  type StagedBlock,
  writeStagedBlob,
  writeStagedBlock,
} from "./records.ts";

export interface PutBlock extends BlobAsked {
  readonly blockId: string;
  readonly body: Body;
  /** What the client says the body's digests are. An MD5 is computed only to check one. */
  readonly digests: BodyDigests;
  readonly leaseId: string | null;
}

export interface PutBlockDone {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

/** Stages a block under a name. The blob of that name, if there is one, does not change. */
export async function putBlock(context: BlobContext, asked: PutBlock): Promise<PutBlockDone> {
  await lookAhead(context.store, asked.body, (view) => admit(view, asked));

  const md5 = asked.digests.md5 !== null;
  const taken = await context.contents.take(asked.body, { md5, crc64: !md5 });
  try {
    await context.store.transact((tx) => {
      const { container, staged, replaced } = admit(tx, asked);
      refuseByDigests(asked.digests, taken);
      const next = nextStaged(tx, staged, replaced, asked.blockId);
      writeStagedBlob(tx, container, asked.at.blob, next);
      writeStagedBlock(tx, next, asked.blockId, { content: context.contents.keep(tx, taken) });
      if (replaced !== null) context.contents.drop(tx, replaced.content);
    });
    return { md5: taken.md5, crc64: taken.crc64 };
  } finally {
    taken.release();
  }
}

interface Admitted {
  readonly container: Container;
  readonly staged: StagedBlob | null;
  /** The block that has this id so far. */
  readonly replaced: StagedBlock | null;
}

/** The order of these lines is the order of the answers a client can see. */
function admit(view: View, asked: PutBlock): Admitted {
  refuse(refuseBlockId(asked.blockId));
  const { container, old } = admitToBlobName(view, asked, BLOB_NEEDS.putBlock, "BlockBlob");
  refuse(refuseWriteByLease(old?.lease ?? null, asked.leaseId, view.now(), "Blob"));
  if (old !== null) refuse(refuseByTier(old.tier, view.now()));
  const staged = readStagedBlob(view, container, asked.at.blob);
  if (staged === null) return { container, staged, replaced: null };
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
  return { container, staged, replaced };
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
