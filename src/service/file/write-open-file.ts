import { type Body, type Bytes, wholeBody } from "../../base/bytes.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import { FILE_BYTES_MAX } from "../../base/limits.ts";
import { WRITES } from "../../rules/caching.ts";
import { judgeWriteByLocks } from "../../rules/range-lock.ts";
import type { Taken } from "../../store/content.ts";
import type { View } from "../../store/store.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { requireCachesBroken } from "./caches.ts";
import type { FileContext } from "./context.ts";
import { readLocks } from "./open-records.ts";
import type { Tree } from "./preserved-records.ts";
import type { Share } from "./records.ts";
import { growUsage } from "./share-usage.ts";
import { type File, readFile, writeFile } from "./tree-records.ts";
import { nextFileVersion, writtenFile } from "./version.ts";

export interface WriteTaken extends HandleAsked {
  /** Null to append. */
  readonly from: number | null;
  /** Whether to preserve the time of the last write. */
  readonly preservesWritten: boolean;
}

export interface WriteOpenFile extends WriteTaken {
  readonly bytes: Bytes;
}

/** Writes to an open file, which grows if needed. */
export async function writeOpenFile(context: FileContext, asked: WriteOpenFile): Promise<void> {
  const taken = await takeToWrite(context, wholeBody(asked.bytes));
  try {
    await writeTaken(context, asked, taken);
  } finally {
    taken.release();
  }
}

/** Receives the bytes before it is known whether they may be written. The caller releases them. */
export function takeToWrite({ contents }: FileContext, body: Body): Promise<Taken> {
  return contents.take(body, { md5: false, crc64: false });
}

/** Writes bytes that were received before. */
export async function writeTaken(
  { contents, store }: FileContext,
  asked: WriteTaken,
  taken: Taken,
): Promise<void> {
  await store.transact((tx) => {
    const { share, tree, file, from } = admit(tx, asked, taken.length);
    if (taken.length === 0) return;
    const version = nextFileVersion(tx, tree, contents, file);
    const written = asked.preservesWritten ? file.written : fileTimeOfStamp(version.etag);
    const until = from + taken.length;
    growUsage(tx, share, file.id, Math.max(until - file.content.length, 0));
    const content = contents.maps.write(tx, file.content, from, taken);
    writeFile(tx, tree, writtenFile(file, version, written, content));
  });
}

function admit(
  view: View,
  asked: WriteTaken,
  length: number,
): { readonly share: Share; readonly tree: Tree; readonly file: File; readonly from: number } {
  const { share, tree, item, handle, opens } = admitToHandle(view, asked);
  if (handle.isDirectory) throw new Fault("ResourceTypeMismatch");
  const file = readFile(view, tree, item.id);
  const from = asked.from ?? file.content.length;
  if (from + length > FILE_BYTES_MAX) throw new Fault("OutOfRangeInput");
  requireCachesBroken(view, item, opens, handle.cache, WRITES);
  if (opens.locks > 0) {
    const locks = readLocks(view, item, opens.locks);
    refuse(judgeWriteByLocks(locks, asked.handle, from, length));
  }
  return { share, tree, file, from };
}
