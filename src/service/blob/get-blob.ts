import { createHash } from "node:crypto";
import { type ByteRange, type Piece, pieceOf, requireDigestible } from "../../base/byte-range.ts";
import type { Bytes } from "../../base/bytes.ts";
import { readWhole, WholeReading } from "../../content/whole-reading.ts";
import { crc64 } from "../../machine/crc64.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Reading } from "../../store/content.ts";
import type { Digests } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import { admitBlobRead, requireReadableTier } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { decrypted, requireKey } from "./encryption.ts";
import { type BlobFound, blobFound } from "./get-blob-properties.ts";
import { type Blob, writeBlob } from "./records.ts";

export interface GetBlob extends BlobRead {
  /** Null for the whole blob. */
  readonly range: ByteRange | null;
  /** The digests to compute of the bytes that are read; null for none, which is cheaper. */
  readonly digests: Digests | null;
}

export interface GetBlobDone extends BlobFound {
  /** Where in the blob the bytes begin. */
  readonly from: number;
  /** Reads the bytes as they were when opened, despite later writes. The caller closes it. */
  readonly reading: Reading;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export async function getBlob(context: BlobContext, asked: GetBlob): Promise<GetBlobDone> {
  const { blob, isCurrent, lease, tier, from, reading } = await openBlob(context, asked);
  if (asked.digests === null) {
    return { blob, isCurrent, lease, tier, from, reading, md5: null, crc64: null };
  }
  const bytes = await readWhole(reading);
  return {
    blob,
    isCurrent,
    lease,
    tier,
    from,
    reading: new WholeReading(bytes),
    md5: asked.digests.md5 ? createHash("md5").update(bytes).digest() : null,
    crc64: asked.digests.crc64 ? crc64(bytes) : null,
  };
}

type Opened = Omit<GetBlobDone, "md5" | "crc64">;

/** The order of these checks decides which error a client sees. */
function admit(view: View, asked: GetBlob): ReturnType<typeof admitBlobRead> {
  const admitted = admitBlobRead(view, asked, BLOB_NEEDS.getBlob);
  requireKey(admitted.blob, asked);
  requireReadableTier(view, asked, admitted.blob);
  return admitted;
}

async function openBlob(context: BlobContext, asked: GetBlob): Promise<Opened> {
  const key = asked.key?.bytes ?? null;
  const opened = await context.store.read((view) => {
    const { blob, isCurrent } = admit(view, asked);
    const { from, length } = pieceToRead(blob, asked);
    const reading = context.contents.open(view, blob.content, from, length, key);
    return openedOf(view, decrypted(blob, asked), isCurrent, from, reading);
  });
  // Only the pages of a current page blob change in place: other contents are immutable.
  const { blob, isCurrent, reading } = opened;
  if (reading.isStable || blob.type !== "PageBlob" || !isCurrent) return opened;
  reading.close();
  return openFrozen(context, asked);
}

/** Opens pages in too many pieces to look up in one read. This takes a write. */
function openFrozen(context: BlobContext, asked: GetBlob): Promise<Opened> {
  const key = asked.key?.bytes ?? null;
  return context.store.transact((tx) => {
    const { place, blob, isCurrent } = admit(tx, asked);
    const { from, length } = pieceToRead(blob, asked);
    if (blob.type !== "PageBlob" || !isCurrent) {
      // The blob was replaced meanwhile, or is now a previous version.
      const reading = context.contents.open(tx, blob.content, from, length, key);
      return openedOf(tx, decrypted(blob, asked), isCurrent, from, reading);
    }
    const { map, reading } = context.contents.maps.openFrozen(tx, blob.content, from, length, key);
    writeBlob(tx, place, { ...blob, content: map });
    return openedOf(tx, decrypted(blob, asked), isCurrent, from, reading);
  });
}

function openedOf(
  view: View,
  blob: Blob,
  isCurrent: boolean,
  from: number,
  reading: Reading,
): Opened {
  const { lease, tier } = blobFound(blob, isCurrent, view.now());
  return { blob, isCurrent, lease, tier, from, reading };
}

function pieceToRead(blob: Blob, asked: GetBlob): Piece {
  const piece = pieceOf(blob.content.length, asked.range);
  if (asked.digests !== null) requireDigestible(piece);
  return piece;
}
