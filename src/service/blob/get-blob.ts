import { createHash } from "node:crypto";
import { type ByteRange, type Piece, pieceOf, refuseDigestOf } from "../../base/byte-range.ts";
import type { Bytes } from "../../base/bytes.ts";
import { crc64 } from "../../base/crc64.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { leaseStatus } from "../../rules/lease.ts";
import type { Digests, Reading } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { readWhole, WholeReading } from "../../store/whole-reading.ts";
import { admitBlobRead, admitToRead } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import type { BlobFound } from "./get-blob-properties.ts";
import { type Blob, writeBlob } from "./records.ts";

export interface GetBlob extends BlobUse {
  /** Null for the whole blob. */
  readonly range: ByteRange | null;
  /** Wanted of the bytes that are read; null for none, which is cheaper. */
  readonly digests: Digests | null;
}

export interface GetBlobDone extends BlobFound {
  /** Where in the blob the bytes begin. */
  readonly from: number;
  /** The version that was current when it was opened, whatever happens meanwhile. To be closed. */
  readonly reading: Reading;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export async function getBlob(context: BlobContext, asked: GetBlob): Promise<GetBlobDone> {
  const { blob, lease, from, reading } = await openBlob(context, asked);
  if (asked.digests === null) return { blob, lease, from, reading, md5: null, crc64: null };
  const bytes = await readWhole(reading);
  return {
    blob,
    lease,
    from,
    reading: new WholeReading(bytes),
    md5: asked.digests.md5 ? createHash("md5").update(bytes).digest() : null,
    crc64: asked.digests.crc64 ? crc64(bytes) : null,
  };
}

type Opened = Omit<GetBlobDone, "md5" | "crc64">;

async function openBlob(context: BlobContext, asked: GetBlob): Promise<Opened> {
  const opened = await context.store.read((view) => {
    const blob = admitBlobRead(view, asked, BLOB_NEEDS.getBlob);
    const { from, length } = pieceToRead(blob, asked);
    const reading = context.contents.open(view, blob.content, from, length);
    return openedOf(view, blob, from, reading);
  });
  // Only pages change in place: whatever else is opened stays what it was.
  if (opened.reading.isSettled || opened.blob.type !== "PageBlob") return opened;
  opened.reading.close();
  return openFrozen(context, asked);
}

/** For pages in so many pieces that they cannot be found all at once. It takes a write. */
async function openFrozen(context: BlobContext, asked: GetBlob): Promise<Opened> {
  let reading: Reading | null = null;
  try {
    return await context.store.transact((tx) => {
      reading?.close();
      const { container, blob } = admitToRead(tx, asked, BLOB_NEEDS.getBlob);
      const { from, length } = pieceToRead(blob, asked);
      const opened = openFor(context, tx, blob, from, length);
      reading = opened.reading;
      writeBlob(tx, container, asked.at.blob, { ...blob, content: opened.map });
      return openedOf(tx, blob, from, opened.reading);
    });
  } catch (error) {
    (reading as Reading | null)?.close();
    throw error;
  }
}

/** The blob may be another one by now. */
function openFor(context: BlobContext, tx: Transaction, blob: Blob, from: number, length: number) {
  const { contents } = context;
  if (blob.type === "PageBlob") return contents.maps.openFrozen(tx, blob.content, from, length);
  return { map: blob.content, reading: contents.open(tx, blob.content, from, length) };
}

function openedOf(view: View, blob: Blob, from: number, reading: Reading): Opened {
  return { blob, lease: leaseStatus(blob.lease, view.now()), from, reading };
}

function pieceToRead(blob: Blob, asked: GetBlob): Piece {
  const piece = pieceOf(blob.content.length, asked.range);
  if (asked.digests !== null) refuseDigestOf(piece);
  return piece;
}
