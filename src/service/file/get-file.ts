import { createHash } from "node:crypto";
import { type ByteRange, type Piece, pieceOf, refuseDigestOf } from "../../base/byte-range.ts";
import type { Bytes } from "../../base/bytes.ts";
import { readWhole, WholeReading } from "../../content/whole-reading.ts";
import { leaseStatus } from "../../rules/lease.ts";
import type { Reading } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import { admitFileRead } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import type { FileFound } from "./get-file-properties.ts";
import { ALL_BYTES, type Touched } from "./opens.ts";
import { type File, writeFile } from "./tree-records.ts";

export interface GetFile extends FileAsked {
  /** Null for the whole file. */
  readonly range: ByteRange | null;
  /** Whether the MD5 of what is read is wanted, which costs. */
  readonly md5: boolean;
}

export interface GetFileDone extends FileFound {
  /** Where in the file the bytes begin. */
  readonly from: number;
  /** What the file held when it was opened, whatever happens meanwhile. To be closed. */
  readonly reading: Reading;
  readonly md5: Bytes | null;
}

export async function getFile(context: FileContext, asked: GetFile): Promise<GetFileDone> {
  const { file, lease, from, reading } = await openFile(context, asked);
  if (!asked.md5) return { file, lease, from, reading, md5: null };
  const bytes = await readWhole(reading);
  const md5 = createHash("md5").update(bytes).digest();
  return { file, lease, from, reading: new WholeReading(bytes), md5 };
}

type Opened = Omit<GetFileDone, "md5">;

async function openFile(context: FileContext, asked: GetFile): Promise<Opened> {
  const opened = await context.store.read((view) => {
    const { file } = admitFileRead(view, asked, "getFile", touchedBy(asked));
    const { from, length } = pieceToRead(file, asked);
    return openedOf(view, file, from, context.contents.open(view, file.content, from, length));
  });
  // What a snapshot shows does not change any more.
  if (opened.reading.isStable || asked.at.snapshot !== null) return opened;
  opened.reading.close();
  return openFrozen(context, asked);
}

/** For files in so many pieces that they cannot be found all at once. It takes a write. */
function openFrozen(context: FileContext, asked: GetFile): Promise<Opened> {
  return context.store.transact((tx) => {
    const { tree, file } = admitFileRead(tx, asked, "getFile", touchedBy(asked));
    const { from, length } = pieceToRead(file, asked);
    const { map, reading } = context.contents.maps.openFrozen(tx, file.content, from, length);
    writeFile(tx, tree, { ...file, content: map });
    return openedOf(tx, file, from, reading);
  });
}

function openedOf(view: View, file: File, from: number, reading: Reading): Opened {
  return { file, lease: leaseStatus(file.lease, view.now()), from, reading };
}

function touchedBy({ range }: GetFile): Touched {
  if (range === null) return ALL_BYTES;
  const { from, to } = range;
  return { from, length: (to ?? Number.MAX_SAFE_INTEGER) - from + 1 };
}

function pieceToRead(file: File, asked: GetFile): Piece {
  const piece = pieceOf(file.content.length, asked.range);
  if (asked.md5) refuseDigestOf(piece);
  return piece;
}
