import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, refuseByDigests } from "../../base/digests.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { Content } from "../../store/contents.ts";
import { lookAhead } from "../../store/look-ahead.ts";
import type { Transaction } from "../../store/store.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type Blob, type BlobProperties, type Metadata, NEW_BLOB, writeBlob } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { nextBlobVersion } from "./version.ts";

export interface PutBlob extends BlobUse {
  readonly body: Body;
  /** What the client says the body's digests are. */
  readonly digests: BodyDigests;
  /** Its `contentMd5` must be the body's as well; without one, the body's own is stored. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
}

export interface PutBlobDone extends Versioned {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export async function putBlob(context: BlobContext, asked: PutBlob): Promise<PutBlobDone> {
  await lookAhead(context.store, asked.body, (view) =>
    admitBlobCreation(view, asked, BLOB_NEEDS.putBlob),
  );

  const taken = await context.contents.take(asked.body, { md5: true, crc64: true });
  try {
    const { md5, crc64 } = taken;
    return await context.store.transact((tx) => {
      const { container, old } = admitBlobCreation(tx, asked, BLOB_NEEDS.putBlob);
      refuseByDigests(asked.digests, taken);
      refuseByDigests({ md5: asked.properties.contentMd5, crc64: null }, taken);
      const blob = blockBlob(tx, old, asked, context.contents.keep(tx, taken), md5);
      writeBlob(tx, container, asked.at.blob, blob);
      dropStagedBlocks(tx, container, asked.at.blob);
      if (old !== null) context.contents.drop(tx, old.content);
      return { etag: blob.etag, modifiedMs: blob.modifiedMs, md5, crc64 };
    });
  } finally {
    taken.release();
  }
}

/** Spelled out: every upload passes here, and put together from spreads it takes five times as long. */
function blockBlob(
  tx: Transaction,
  old: Blob | null,
  { properties, metadata }: PutBlob,
  content: Content,
  contentMd5: Bytes | null,
): Blob {
  const { etag, createdMs, modifiedMs, lease } = nextBlobVersion(tx, old);
  const { contentType, contentEncoding, contentLanguage } = properties;
  const { contentDisposition, cacheControl } = properties;
  return {
    type: "BlockBlob",
    etag,
    createdMs,
    modifiedMs,
    content,
    properties: {
      contentType,
      contentEncoding,
      contentLanguage,
      contentDisposition,
      cacheControl,
      contentMd5,
    },
    metadata,
    lease,
    sequenceNumber: NEW_BLOB.sequenceNumber,
    appendedBlocks: NEW_BLOB.appendedBlocks,
    isSealed: NEW_BLOB.isSealed,
  };
}
