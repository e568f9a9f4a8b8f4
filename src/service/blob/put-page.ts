import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, refuseByDigests } from "../../base/digests.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { refuseBySequenceNumber, type SequenceConditions } from "../../rules/sequence-number.ts";
import type { Content } from "../../store/contents.ts";
import { lookAhead } from "../../store/look-ahead.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type Blob, type Container, writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

/** A range of whole pages. */
export interface PageRange {
  readonly from: number;
  /** The first byte behind it. */
  readonly until: number;
}

interface PageWrite extends BlobUse {
  readonly range: PageRange;
  readonly sequence: SequenceConditions;
}

export interface PutPage extends PageWrite {
  /** As long as the range. */
  readonly body: Body;
  /** What the client says the body's digests are. An MD5 is computed only to check one. */
  readonly digests: BodyDigests;
}

export interface PutPageDone extends Versioned, BodyDigests {
  readonly sequenceNumber: bigint;
}

export async function putPage(context: BlobContext, asked: PutPage): Promise<PutPageDone> {
  await lookAhead(context.store, asked.body, (view) => admit(view, asked));

  const { contents, store } = context;
  const md5 = asked.digests.md5 !== null;
  const taken = await contents.take(asked.body, { md5, crc64: !md5 });
  try {
    const done = await store.transact((tx) => {
      const { container, blob } = admit(tx, asked);
      refuseByDigests(asked.digests, taken);
      const content = contents.maps.write(tx, blob.content, asked.range.from, taken);
      return written(tx, container, asked, blob, content);
    });
    return { ...done, md5: taken.md5, crc64: taken.crc64 };
  } finally {
    taken.release();
  }
}

/** Makes zeroes of pages, and gives their space back. */
export async function clearPage(context: BlobContext, asked: PageWrite): Promise<PutPageDone> {
  const { from, until } = asked.range;
  return context.store.transact((tx) => {
    const { container, blob } = admit(tx, asked);
    const content = context.contents.maps.clear(tx, blob.content, from, until);
    return { ...written(tx, container, asked, blob, content), md5: null, crc64: null };
  });
}

/** The order of these lines is the order of the answers a client can see. */
function admit(view: View, asked: PageWrite): { container: Container; blob: Blob } {
  const admitted = admitBlobUpdate(view, asked, BLOB_NEEDS.putPage, "PageBlob");
  const { sequenceNumber, content } = admitted.blob;
  refuse(refuseBySequenceNumber(sequenceNumber, asked.sequence));
  if (asked.range.until > content.length) {
    throw new Fault("InvalidPageRange", { Reason: `The blob ends at byte ${content.length}.` });
  }
  return admitted;
}

function written(
  tx: Transaction,
  container: Container,
  asked: PageWrite,
  blob: Blob,
  content: Content,
): Versioned & { sequenceNumber: bigint } {
  const version = nextBlobVersion(tx, blob);
  writeBlob(tx, container, asked.at.blob, { ...blob, ...version, content });
  return { ...version, sequenceNumber: blob.sequenceNumber };
}
