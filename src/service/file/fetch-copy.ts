import { Fault } from "../../base/fault.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import type { StoredCopy } from "../shared/copy-field.ts";
import { fetchSource } from "../shared/fetch-source.ts";
import type { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, SourceObject } from "../shared/source.ts";
import { treeOf } from "./admit.ts";
import type { FileContext } from "./context.ts";
import { type CopyPlace, deletePendingCopy, readPendingCopy } from "./pending-copies.ts";
import type { Tree } from "./preserved-records.ts";
import { readShare, restorableShares, type Share } from "./records.ts";
import { type File, findFile, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

/** The context of copies that go on after the request was answered. */
export interface CopyContext extends FileContext {
  readonly copies: RunningCopies;
}

/** A pending copy. */
export interface FetchCopy {
  readonly copyId: string;
  readonly source: ForeignSource;
  readonly found: SourceObject;
  readonly signal: AbortSignal;
}

/** Fetches all bytes, then makes them the file's in one transaction. The file records the end. */
export function fetchCopy(context: FileContext, copy: FetchCopy): Promise<void> {
  const { copyId } = copy;
  const { contents } = context;
  return fetchSource(contents, {
    ...copy,
    note: (bytesDone) => noteProgress(context, copy, bytesDone),
    succeed: (taken) =>
      endCopy(context, copyId, {
        status: "success",
        description: "",
        bytesDone: taken.length,
        content: (tx, content) => contents.maps.write(tx, content, 0, taken),
      }),
    fail: (description) => endCopy(context, copyId, { status: "failed", description }),
  });
}

/** The end of a copy, and how it changes the file's content, if it does. */
export interface CopyEnd extends Pick<StoredCopy, "status" | "description"> {
  readonly bytesDone?: number;
  content?(tx: Transaction, content: Content): Content;
}

/** Ends a copy, unless it has already ended or its file is gone. */
export function endCopy(context: FileContext, copyId: string, end: CopyEnd): Promise<void> {
  return context.store.transact((tx) => {
    const found = findPending(tx, copyId);
    deletePendingCopy(tx, copyId);
    if (found !== null) writeEnd(context, tx, found.tree, found.file, found.copy, end);
  });
}

export function writeEnd(
  { contents }: FileContext,
  tx: Transaction,
  tree: Tree,
  file: File,
  copy: StoredCopy,
  { status, description, bytesDone = copy.bytesDone, content }: CopyEnd,
): void {
  const version = nextFileVersion(tx, tree, contents, file);
  writeFile(tx, tree, {
    ...file,
    ...version,
    content: content === undefined ? file.content : content(tx, file.content),
    copy: { ...copy, status, description, bytesDone, completedMs: tx.now() },
  });
}

interface Pending {
  readonly tree: Tree;
  readonly file: File;
  readonly copy: StoredCopy;
}

/** Looks in soft-deleted shares too: a restored share shows how the copy ended. */
function findPending(tx: Transaction, copyId: string): Pending | null {
  const place = readPendingCopy(tx, copyId);
  if (place === null) return null;
  const current = readShare(tx, place);
  const found = current === null ? null : pendingIn(tx, current, place, copyId);
  if (found !== null) return found;
  for (const share of restorableShares(tx, place)) {
    const restorable = pendingIn(tx, share, place, copyId);
    if (restorable !== null) return restorable;
  }
  return null;
}

function pendingIn(
  tx: Transaction,
  share: Share,
  place: CopyPlace,
  copyId: string,
): Pending | null {
  const tree = treeOf(share);
  const file = findFile(tx, tree, place.file);
  const copy = file?.copy ?? null;
  if (file === null || copy?.id !== copyId || copy.status !== "pending") return null;
  return { tree, file, copy };
}

/** Writes the progress without changing the file's version. */
function noteProgress(
  { store }: FileContext,
  { copyId }: FetchCopy,
  bytesDone: number,
): Promise<void> {
  return store.transact((tx) => {
    const found = findPending(tx, copyId);
    if (found === null) throw new Fault("NoPendingCopyOperation");
    writeFile(tx, found.tree, { ...found.file, copy: { ...found.copy, bytesDone } });
  });
}
