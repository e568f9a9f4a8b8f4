import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import { SECTOR_BYTES } from "../../base/limits.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { RangeMaps } from "../../store/range-map.ts";
import type { Transaction, View } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { admitFileUpdate, type InFile } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { writeFile } from "./tree-records.ts";
import { nextFileVersion, writtenFile } from "./version.ts";

export interface RangeWrite extends FileAsked {
  readonly from: number;
  /** End of the range, exclusive. It must lie within the file. */
  readonly until: number;
  /** Whether to preserve the time of the last write. */
  readonly preservesWritten: boolean;
}

export interface PutRange extends RangeWrite {
  /** As long as the range. */
  readonly body: Body;
  /** The body's digests according to the client. */
  readonly digests: BodyDigests;
}

export interface PutRangeDone extends Versioned, BodyDigests {
  readonly written: FileTime;
}

export async function putRange(context: FileContext, asked: PutRange): Promise<PutRangeDone> {
  const { contents, store } = context;
  await lookAhead(store, asked.body, (view) => admitRangeWrite(view, asked));

  const crc64 = asked.digests.crc64 !== null;
  const taken = await contents.take(asked.body, { md5: !crc64, crc64 });
  try {
    return await store.transact((tx) => {
      const write = (content: Content) => contents.maps.write(tx, content, asked.from, taken);
      const { etag, modifiedMs, written } = changeRange(context, tx, asked, write);
      requireDigests(asked.digests, taken);
      return { etag, modifiedMs, written, md5: taken.md5, crc64: taken.crc64 };
    });
  } finally {
    taken.release();
  }
}

/** Zeroes a range, and frees the space of whole sectors in it. */
export async function clearRange(context: FileContext, asked: RangeWrite): Promise<PutRangeDone> {
  const { maps } = context.contents;
  return context.store.transact((tx) => {
    const clear = (content: Content) => cleared(tx, maps, content, asked.from, asked.until);
    const { etag, modifiedMs, written } = changeRange(context, tx, asked, clear);
    return { etag, modifiedMs, written, md5: null, crc64: null };
  });
}

function cleared(
  tx: Transaction,
  maps: RangeMaps,
  content: Content,
  from: number,
  until: number,
): Content {
  const first = Math.min(Math.ceil(from / SECTOR_BYTES) * SECTOR_BYTES, until);
  const last = Math.max(Math.floor(until / SECTOR_BYTES) * SECTOR_BYTES, first);
  let next = maps.clear(tx, content, first, last);
  // The service writes zeroes to the partial sectors, even where nothing was written before.
  for (const [start, end] of [
    [from, first],
    [last, until],
  ] as const) {
    if (start < end) next = maps.write(tx, next, start, takenOf(Buffer.alloc(end - start)));
  }
  return next;
}

/** Bytes in memory as a taken body. */
function takenOf(bytes: Bytes): Taken {
  return { length: bytes.length, md5: null, crc64: null, inline: bytes, release() {} };
}

/** The order of these lines is the order of the answers a client can see. */
export function admitRangeWrite(view: View, asked: RangeWrite): InFile {
  const { from, until } = asked;
  const admitted = admitFileUpdate(view, asked, "putRange", { from, length: until - from });
  const { length } = admitted.file.content;
  if (asked.until > length) {
    throw new Fault("InvalidRange", {
      Reason: `The file ends at byte ${length}: resize it first.`,
    });
  }
  return admitted;
}

export function changeRange(
  { contents }: FileContext,
  tx: Transaction,
  asked: RangeWrite,
  changed: (content: Content) => Content,
): Versioned & { written: FileTime } {
  const { tree, file } = admitRangeWrite(tx, asked);
  const version = nextFileVersion(tx, tree, contents, file);
  const written = asked.preservesWritten ? file.written : fileTimeOfStamp(version.etag);
  writeFile(tx, tree, writtenFile(file, version, written, changed(file.content)));
  return { etag: version.etag, modifiedMs: version.modifiedMs, written };
}
