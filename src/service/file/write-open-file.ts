import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import { FILE_BYTES_MAX } from "../../base/limits.ts";
import { WRITES } from "../../rules/caching.ts";
import { refuseWriteByLocks } from "../../rules/range-lock.ts";
import type { View } from "../../store/store.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { giveWay } from "./caches.ts";
import type { FileContext } from "./context.ts";
import type { Tree } from "./kept-records.ts";
import { readLocks } from "./open-records.ts";
import type { Share } from "./records.ts";
import { growUsage } from "./share-usage.ts";
import { type File, readFile, writeFile } from "./tree-records.ts";
import { nextFileVersion, writtenFile } from "./version.ts";

export interface WriteOpenFile extends HandleAsked {
  /** Null to write behind what is there. */
  readonly from: number | null;
  readonly bytes: Bytes;
  /** Whether the time of the last write stays what it is. */
  readonly preservesWritten: boolean;
}

/** Writes into an open file, which grows if it ends before. */
export async function writeOpenFile(context: FileContext, asked: WriteOpenFile): Promise<void> {
  const { contents, store } = context;
  const taken = await contents.take(wholeBody(asked.bytes), { md5: false, crc64: false });
  try {
    await store.transact((tx) => {
      const { share, tree, file, from } = admit(tx, asked);
      if (asked.bytes.length === 0) return;
      const version = nextFileVersion(tx, tree, contents, file);
      const written = asked.preservesWritten ? file.written : fileTimeOfStamp(version.etag);
      const until = from + asked.bytes.length;
      growUsage(tx, share, file.id, Math.max(until - file.content.length, 0));
      const content = contents.maps.write(tx, file.content, from, taken);
      writeFile(tx, tree, writtenFile(file, version, written, content));
    });
  } finally {
    taken.release();
  }
}

function admit(
  view: View,
  asked: WriteOpenFile,
): { readonly share: Share; readonly tree: Tree; readonly file: File; readonly from: number } {
  const { share, tree, item, handle, opens } = admitToHandle(view, asked);
  if (handle.isDirectory) throw new Fault("ResourceTypeMismatch");
  const file = readFile(view, tree, item.id);
  const from = asked.from ?? file.content.length;
  if (from + asked.bytes.length > FILE_BYTES_MAX) throw new Fault("OutOfRangeInput");
  giveWay(view, item, opens, handle.cache, WRITES);
  if (opens.locks > 0) {
    const locks = readLocks(view, item, opens.locks);
    refuse(refuseWriteByLocks(locks, asked.handle, from, asked.bytes.length));
  }
  return { share, tree, file, from };
}
