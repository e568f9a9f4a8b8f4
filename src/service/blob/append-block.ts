import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, refuseByDigests } from "../../base/digests.ts";
import { refuse } from "../../base/fault.ts";
import { type Appendable, type AppendConditions, refuseAppend } from "../../rules/append-block.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { lookAhead } from "../../store/look-ahead.ts";
import type { View } from "../../store/store.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type Blob, type Container, writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

export interface AppendBlock extends BlobUse {
  readonly body: Body;
  /** What the client says the body's digests are. An MD5 is computed only to check one. */
  readonly digests: BodyDigests;
  readonly append: AppendConditions;
}

export interface AppendBlockDone extends Versioned, BodyDigests {
  /** Where the block begins. */
  readonly offset: number;
  /** How many blocks there are with this one. */
  readonly blocks: number;
}

/** Whoever appends at the same time, each block has a place of its own, one behind the other. */
export async function appendBlock(
  context: BlobContext,
  asked: AppendBlock,
): Promise<AppendBlockDone> {
  await lookAhead(context.store, asked.body, (view) => admit(view, asked));

  const { contents, store } = context;
  const md5 = asked.digests.md5 !== null;
  const taken = await contents.take(asked.body, { md5, crc64: !md5 });
  try {
    return await store.transact((tx) => {
      const { container, blob } = admit(tx, asked);
      refuseByDigests(asked.digests, taken);
      const version = nextBlobVersion(tx, blob);
      const offset = blob.content.length;
      const content = contents.maps.write(tx, blob.content, offset, taken);
      const blocks = blob.appendedBlocks + 1;
      const next = { ...blob, ...version, content, appendedBlocks: blocks };
      writeBlob(tx, container, asked.at.blob, next);
      return { ...version, offset, blocks, md5: taken.md5, crc64: taken.crc64 };
    });
  } finally {
    taken.release();
  }
}

/** The order of these lines is the order of the answers a client can see. */
function admit(view: View, asked: AppendBlock): { container: Container; blob: Blob } {
  const admitted = admitBlobUpdate(view, asked, BLOB_NEEDS.appendBlock, "AppendBlob");
  refuse(refuseAppend(appendable(admitted.blob), asked.body.length, asked.append));
  return admitted;
}

export function appendable({ content, appendedBlocks, isSealed }: Blob): Appendable {
  return { bytes: content.length, blocks: appendedBlocks, isSealed };
}
