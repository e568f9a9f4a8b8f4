import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { Fault, refuse } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { judgeBySequenceNumber, type SequenceConditions } from "../../rules/sequence-number.ts";
import type { Content } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { requireKey } from "./encryption.ts";
import { type Blob, type Place, writeBlob } from "./records.ts";
import { nextBlobVersion, writtenBlob } from "./version.ts";

/** A range of whole pages. */
export interface PageRange {
  readonly from: number;
  /** The first byte after it. */
  readonly until: number;
}

/** A request that writes pages, wherever their bytes come from. */
export interface PageWrite extends BlobUse {
  readonly range: PageRange;
  readonly sequence: SequenceConditions;
}

export interface PutPage extends PageWrite {
  /** As long as the range. */
  readonly body: Body;
  /** The digests that the client claims for the body. */
  readonly digests: BodyDigests;
  /** The digests to compute: at least the ones given. */
  readonly computed: Digests;
}

export interface PutPageDone extends Versioned, BodyDigests {
  readonly sequenceNumber: bigint;
}

export async function putPage(context: BlobContext, asked: PutPage): Promise<PutPageDone> {
  await lookAhead(context.store, asked.body, (view) =>
    admitPageWrite(view, asked, BLOB_NEEDS.putPage),
  );

  const { contents, store } = context;
  const taken = await contents.take(asked.body, asked.computed, asked.key?.bytes);
  try {
    const done = await store.transact((tx) => {
      const admitted = admitPageWrite(tx, asked, BLOB_NEEDS.putPage);
      requireDigests(asked.digests, taken);
      const content = contents.maps.write(tx, admitted.blob.content, asked.range.from, taken);
      return writePages(tx, admitted, content);
    });
    return { ...done, md5: taken.md5, crc64: taken.crc64 };
  } finally {
    taken.release();
  }
}

/** Zeroes pages and frees their space. */
export async function clearPage(context: BlobContext, asked: PageWrite): Promise<PutPageDone> {
  const { from, until } = asked.range;
  return context.store.transact((tx) => {
    const admitted = admitPageWrite(tx, asked, BLOB_NEEDS.putPage);
    const content = context.contents.maps.clear(tx, admitted.blob.content, from, until);
    return { ...writePages(tx, admitted, content), md5: null, crc64: null };
  });
}

interface AdmittedPageWrite {
  readonly place: Place;
  readonly blob: Blob;
}

/** The order of these checks decides which error a client sees. */
export function admitPageWrite(view: View, asked: PageWrite, need: Need): AdmittedPageWrite {
  const admitted = admitBlobUpdate(view, asked, need, "PageBlob");
  requireKey(admitted.blob, asked);
  const { sequenceNumber, content } = admitted.blob;
  refuse(judgeBySequenceNumber(sequenceNumber, asked.sequence));
  if (asked.range.until > content.length) {
    throw new Fault("InvalidPageRange", { Reason: `The blob ends at byte ${content.length}.` });
  }
  return admitted;
}

/** `content` is the blob's new content. */
export function writePages(
  tx: Transaction,
  { place, blob }: AdmittedPageWrite,
  content: Content,
): Versioned & { sequenceNumber: bigint } {
  const version = nextBlobVersion(tx, blob);
  const written = writtenBlob(blob, version, content, blob.appendedBlocks);
  writeBlob(tx, place, written);
  const { etag, modifiedMs } = version;
  return { etag, modifiedMs, sequenceNumber: blob.sequenceNumber };
}
