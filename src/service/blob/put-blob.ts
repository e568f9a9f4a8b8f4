import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { tierOnUpload } from "../../rules/tier.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import { encryptedFields } from "./encryption.ts";
import { isMarked } from "./flat-directory.ts";
import { replaceBytes } from "./history.ts";
import { currentPast, givePast, isCurrent, type Past } from "./place-revision.ts";
import type { BlobProperties, Metadata } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, blockBlob, nextRevision } from "./version.ts";

export interface PutBlob extends BlobCreation {
  readonly body: Body;
  /** The digests that the client claims for the body. */
  readonly digests: BodyDigests;
  /** A given `contentMd5` must match the body; otherwise the body's MD5 is stored. */
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
  /** What an import knows of its past; null or missing for a new blob. */
  readonly past?: Past | null;
}

export interface PutBlobDone extends BlobWritten {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export async function putBlob(context: BlobContext, given: PutBlob): Promise<PutBlobDone> {
  const asked = withKind(given);
  await lookAhead(context.store, asked.body, (view) =>
    admitBlobCreation(view, asked, BLOB_NEEDS.putBlob),
  );

  const taken = await context.contents.take(
    asked.body,
    { md5: true, crc64: true },
    asked.key?.bytes,
  );
  try {
    const { md5, crc64 } = taken;
    return await context.store.transact((tx) => {
      const { container, place, old } = admitBlobCreation(tx, asked, BLOB_NEEDS.putBlob);
      if (asked.past != null) {
        refuse(judgeByAccess(asked.access, BLOB_NEEDS.placeRevision, container, tx.now()));
      }
      requireDigests(asked.digests, taken);
      requireDigests({ md5: asked.properties.contentMd5, crc64: null }, taken);
      const { past = null } = asked;
      const next = nextRevision(context, tx, place, old);
      const written = isCurrent(past) ? { ...next, ...currentPast(tx, next, past) } : next;
      const tier = tierOnUpload(asked.tier, old?.tier ?? null, tx.now());
      const blob = replaceBytes(context, tx, place, old, taken, (content) =>
        blockBlob(written, asked, encryptedFields(asked.metadata, asked), tier, content, md5),
      );
      dropStagedBlocks(tx, place);
      const { etag, modifiedMs, versionId } =
        past === null || isCurrent(past) ? blob : givePast(context, tx, place, blob, past);
      return { etag, modifiedMs, versionId, md5, crc64 };
    });
  } finally {
    taken.release();
  }
}

/** In a hierarchical container, the mark of a directory makes an empty blob one. */
function withKind(asked: PutBlob): PutBlob {
  const isDirectory = asked.body.length === 0 && isMarked(asked.metadata);
  return isDirectory ? { ...asked, kind: "directory" } : asked;
}
