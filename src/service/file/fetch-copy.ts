import { Fault } from "../../base/fault.ts";
import type { Content } from "../../store/contents.ts";
import type { Transaction } from "../../store/store.ts";
import type { StoredCopy } from "../shared/copy-field.ts";
import { fetchSource } from "../shared/fetch-source.ts";
import type { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, SourceObject } from "../shared/source.ts";
import { treeOf } from "./admit.ts";
import type { FileContext } from "./context.ts";
import type { Tree } from "./kept-records.ts";
import { type CopyPlace, deletePendingCopy, readPendingCopy } from "./pending-copies.ts";
import { keptShares, readShare, type Share } from "./records.ts";
import { type File, findFile, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

/** What copies work with that go on after their answer. */
export interface CopyContext extends FileContext {
  readonly copies: RunningCopies;
}

/** A copy that is under way. */
export interface FetchCopy {
  readonly copyId: string;
  readonly source: ForeignSource;
  readonly found: SourceObject;
  readonly signal: AbortSignal;
}

/** Takes the bytes, then makes them the file's, all at once. However it ends, the file tells. */
export async function fetchCopy(context: FileContext, copy: FetchCopy): Promise<void> {
  const { copyId, source, found, signal } = copy;
  const { contents } = context;
  const note = (bytesDone: number) => noteProgress(context, copy, bytesDone);
  try {
    await fetchSource(contents, { source, found, signal, note }, (taken) =>
      endCopy(context, copyId, {
        status: "success",
        description: "",
        bytesDone: taken.length,
        content: (tx, content) => contents.maps.write(tx, content, 0, taken),
      }),
    );
  } catch (error) {
    // Whoever ended it has told already, or the next start of the server will.
    if (signal.aborted) return;
    await endCopy(context, copyId, { status: "failed", description: source.failure(error) });
  }
}

/** How a copy ends, and what the file is made of from then on, unless that stays. */
export interface CopyEnd extends Pick<StoredCopy, "status" | "description"> {
  readonly bytesDone?: number;
  content?(tx: Transaction, content: Content): Content;
}

/** Ends a copy, unless it has ended or its file is gone. */
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

/** In a share that is deleted and kept, too: if it is restored, the copy has ended all the same. */
function findPending(tx: Transaction, copyId: string): Pending | null {
  const place = readPendingCopy(tx, copyId);
  if (place === null) return null;
  const current = readShare(tx, place);
  const found = current === null ? null : pendingIn(tx, current, place, copyId);
  if (found !== null) return found;
  for (const share of keptShares(tx, place)) {
    const kept = pendingIn(tx, share, place, copyId);
    if (kept !== null) return kept;
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

/** The progress changes nothing else about the file. */
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
