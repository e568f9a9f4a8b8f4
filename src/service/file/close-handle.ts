import { fileTimeOfStamp } from "../../base/file-time.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToHandle, type HandleAsked, type InHandle } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import { endHandle, readItem } from "./end-handle.ts";
import { type Directory, type File, writeFile } from "./tree-records.ts";
import { nextFileVersion, writtenFile } from "./version.ts";

export interface CloseHandleDone {
  /** The item as it was when it was closed. */
  readonly item: Directory | File;
  readonly isDirectory: boolean;
}

/**
 * Closes a handle. An item that is pending deletion goes with its last handle. `isWritten` says
 * that the handle wrote without updating the time of the last write.
 */
export async function closeHandle(
  context: FileContext,
  asked: HandleAsked,
  isWritten = false,
): Promise<CloseHandleDone> {
  const { done, place, endedCache } = await context.store.transact((tx) => {
    const admitted = admitToHandle(tx, asked);
    const { tree, item, handle } = admitted;
    const { isDirectory } = handle;
    const closed =
      isWritten && !isDirectory
        ? withWriteTime(context, tx, admitted)
        : readItem(tx, tree, item, handle);
    const endedCache = endHandle(tx, context.contents, tree, item, asked.handle, handle);
    return { done: { item: closed, isDirectory }, place: item, endedCache };
  });
  context.breaks.finish(place, endedCache);
  return done;
}

function withWriteTime({ contents }: FileContext, tx: Transaction, admitted: InHandle): File {
  const { tree, item, handle } = admitted;
  const file = readItem(tx, tree, item, handle) as File;
  const version = nextFileVersion(tx, tree, contents, file);
  const closed = writtenFile(file, version, fileTimeOfStamp(version.etag), file.content);
  writeFile(tx, tree, closed);
  return closed;
}
