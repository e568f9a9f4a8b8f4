import { createHash } from "node:crypto";
import { type ByteRange, type Piece, pieceOf, requireDigestible } from "../../base/byte-range.ts";
import type { Bytes } from "../../base/bytes.ts";
import { readWhole, WholeReading } from "../../content/whole-reading.ts";
import { leaseStatus } from "../../rules/lease.ts";
import type { Reading } from "../../store/content.ts";
import type { View } from "../../store/store.ts";
import { admitFileRead } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import type { FileFound } from "./get-file-properties.ts";
import { ALL_BYTES, type Touched } from "./opens.ts";
import { type File, writeFile } from "./tree-records.ts";

export interface GetFile extends FileAsked {
  /** Null for the whole file. */
  readonly range: ByteRange | null;
  /** Whether to compute the MD5 of the range, which costs time. */
  readonly md5: boolean;
}

export interface GetFileDone extends FileFound {
  /** Offset of the first byte in the file. */
  readonly from: number;
  /**
   * The file's bytes as they were when it was opened, whatever happens meanwhile. The caller closes
   * it.
   */
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
  // A snapshot never changes.
  if (opened.reading.isStable || asked.at.snapshot !== null) return opened;
  opened.reading.close();
  return openFrozen(context, asked);
}

/** Opens a file that has too many pieces for one body to look up, by freezing it with a write. */
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
  if (asked.md5) requireDigestible(piece);
  return piece;
}
