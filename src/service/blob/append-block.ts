import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { refuse } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { type Appendable, type AppendConditions, judgeAppend } from "../../rules/append-block.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { Content } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { requireKey } from "./encryption.ts";
import { type Blob, type Place, writeBlob } from "./records.ts";
import { nextBlobVersion, writtenBlob } from "./version.ts";

/** A block at the end of a blob, wherever its bytes come from. */
export interface Append extends BlobUse {
  readonly append: AppendConditions;
}

export interface AppendBlock extends Append {
  readonly body: Body;
  /** The digests that the client claims for the body. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. */
  readonly computed: Digests;
}

export interface AppendBlockDone extends Versioned, BodyDigests {
  /** Where the block begins. */
  readonly offset: number;
  /** The number of blocks, including this one. */
  readonly blocks: number;
}

/** Concurrent appends land one behind the other: the transaction assigns each block its offset. */
export async function appendBlock(
  context: BlobContext,
  asked: AppendBlock,
): Promise<AppendBlockDone> {
  const { length } = asked.body;
  await lookAhead(context.store, asked.body, (view) =>
    admitAppend(view, asked, BLOB_NEEDS.appendBlock, length),
  );

  const { contents, store } = context;
  const taken = await contents.take(asked.body, asked.computed, asked.key?.bytes);
  try {
    return await store.transact((tx) => {
      const admitted = admitAppend(tx, asked, BLOB_NEEDS.appendBlock, length);
      requireDigests(asked.digests, taken);
      const content = contents.maps.append(tx, admitted.blob.content, taken);
      return writeAppended(tx, admitted, content, taken);
    });
  } finally {
    taken.release();
  }
}

interface AdmittedAppend {
  readonly place: Place;
  readonly blob: Blob;
}

/** The order of these checks decides which error a client sees. */
export function admitAppend(view: View, asked: Append, need: Need, length: number): AdmittedAppend {
  const admitted = admitBlobUpdate(view, asked, need, "AppendBlob");
  requireKey(admitted.blob, asked);
  refuse(judgeAppend(appendable(admitted.blob), length, asked.append));
  return admitted;
}

/** `content` is the blob's old content followed by the new block. */
export function writeAppended(
  tx: Transaction,
  { place, blob }: AdmittedAppend,
  content: Content,
  { md5, crc64 }: BodyDigests,
): AppendBlockDone {
  const version = nextBlobVersion(tx, blob);
  const offset = blob.content.length;
  const blocks = blob.appendedBlocks + 1;
  writeBlob(tx, place, writtenBlob(blob, version, content, blocks));
  const { etag, modifiedMs } = version;
  return { etag, modifiedMs, offset, blocks, md5, crc64 };
}

export function appendable({ content, appendedBlocks, isSealed }: Blob): Appendable {
  return { bytes: content.length, blocks: appendedBlocks, isSealed };
}
