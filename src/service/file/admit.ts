import { Fault, refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess, judgeOverwrite, type Need } from "../../rules/access.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { isReadOnly } from "../../rules/file-attributes.ts";
import { judgeFilePath, withoutTrailingDots } from "../../rules/file-name.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgeReadByLease, judgeWriteByLease } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import { requireOwner } from "../shared/past.ts";
import type { FileAsked, PathAddress, PathAsked, ShareAsked, ShareUse } from "./context.ts";
import {
  ALL_BYTES,
  type RestOpen,
  requireCompatibleOpens,
  requireNotPending,
  type Touched,
} from "./opens.ts";
import type { Tree } from "./preserved-records.ts";
import {
  findSnapshot,
  readDeletedShare,
  readShare,
  type Share,
  type StampedSnapshot,
} from "./records.ts";
import {
  type Directory,
  type DirectoryEntry,
  type File,
  ROOT_ID,
  readDirectory,
  readEntry,
  readFile,
} from "./tree-records.ts";

/** The share, if it exists and the caller may do this to it or to its items. */
export function admitToShare(view: View, asked: ShareAsked, need: Need): Share {
  const share = shareAt(view, asked);
  // Permission comes first: without it a caller does not learn what exists.
  refuse(judgeByAccess(asked.access, need, guardOf(share), view.now()));
  if (share === null) {
    // Whatever exists has a valid name, so only a miss checks it.
    refuse(judgeDashedName(asked.at.share), DASHED_NAME_RULE);
    throw new Fault("ShareNotFound");
  }
  return share;
}

function shareAt(view: View, asked: ShareAsked): Share | null {
  const { deletedVersion } = asked.at;
  if (deletedVersion === undefined) return readShare(view, asked.at);
  requireOwner(view, asked);
  const deleted = readDeletedShare(view, asked.at, deletedVersion);
  return deleted === null || deleted.untilMs <= view.now() ? null : deleted.share;
}

/** For operations that change the share itself: they need the id of an active lease. */
export function admitShareUpdate(view: View, asked: ShareUse, need: Need): Share {
  const share = admitToShare(view, asked, need);
  refuse(judgeWriteByLease(share.lease, asked.leaseId, view.now(), "Container"));
  return share;
}

/** The tree of the share, current or as the named snapshot shows it. */
export function admitToTree(view: View, asked: ShareAsked, need: Need): InShare {
  const share = admitToShare(view, asked, need);
  const { snapshot } = asked.at;
  const stamp = snapshot === null ? null : requireSnapshot(view, share, snapshot).stamp;
  return { share, tree: treeOf(share, stamp) };
}

export function requireSnapshot(view: View, share: Share, name: Stamp): StampedSnapshot {
  const snapshot = findSnapshot(view, share, name);
  if (snapshot === null) throw new Fault("ShareSnapshotNotFound");
  return snapshot;
}

export function treeOf({ id, newestSnapshot }: Share, snapshot: Tree["snapshot"] = null): Tree {
  return { share: id, newestSnapshot, snapshot };
}

/** The directory that contains the path's last name, and the entry with that name, if any. */
export function admitToName(view: View, asked: PathAsked, need: Need): InDirectory {
  const { share, tree } = admitToTree(view, asked, need);
  const path = pathOf(asked.at);
  const name = path.at(-1);
  if (name === undefined) throw new Fault("InvalidUri", { Reason: "This is the root." });
  const parent = parentOf(view, tree, path);
  return { share, tree, parent, name, entry: readEntry(view, tree, parent, name) };
}

/** A directory that must exist. */
export function admitToDirectory(
  view: View,
  asked: PathAsked,
  need: Need,
): InShare & { directory: Directory } {
  if (asked.at.path.length === 0) {
    const { share, tree } = admitToTree(view, asked, need);
    return { share, tree, directory: readDirectory(view, tree, ROOT_ID) };
  }
  const { share, tree, entry } = admitToName(view, asked, need);
  if (entry === null) throw new Fault("ResourceNotFound");
  if (!entry.isDirectory) throw new Fault("ResourceTypeMismatch");
  requireNotPending(view, tree, entry.id);
  return { share, tree, directory: readDirectory(view, tree, entry.id) };
}

/** A file or directory that must exist, even one that is pending deletion. */
export function admitToItem(view: View, asked: PathAsked, need: Need): InShare & { id: bigint } {
  if (asked.at.path.length === 0) {
    const { share, tree } = admitToTree(view, asked, need);
    return { share, tree, id: ROOT_ID };
  }
  const { share, tree, entry } = admitToName(view, asked, need);
  if (entry === null) throw new Fault("ResourceNotFound");
  return { share, tree, id: entry.id };
}

/** An operation on an existing file: it needs a permission and is checked against open handles. */
export type FileOperation = keyof typeof FILE_NEEDS & RestOpen;

/** Admits a reader of an existing file. */
export function admitFileRead(
  view: View,
  asked: FileAsked,
  operation: FileOperation,
  touched: Touched | null = null,
): InFile {
  const admitted = admitToFile(view, asked, operation, touched);
  refuse(judgeReadByLease(admitted.file.lease, asked.leaseId, view.now(), "File"));
  return admitted;
}

/** Admits a change of an existing file. */
export function admitFileUpdate(
  view: View,
  asked: FileAsked,
  operation: FileOperation,
  touched: Touched | null = null,
  ignoresReadOnly = false,
  need: Need = FILE_NEEDS[operation],
): InFile {
  const admitted = admitToFile(view, asked, operation, touched, need);
  requireChangeable(view, admitted.file, asked.leaseId, ignoresReadOnly);
  return admitted;
}

/** Admits a write that creates a file or replaces one. */
export function admitFileCreation(
  view: View,
  asked: FileAsked,
  operation: "createFile" | "copyFile" = "createFile",
  ignoresReadOnly = false,
): FileCreation {
  const { share, tree, parent, name, entry } = admitToName(view, asked, FILE_NEEDS[operation]);
  if (entry === null) {
    requireNotPending(view, tree, parent);
    refuse(judgeWriteByLease(null, asked.leaseId, view.now(), "File"));
    return { share, tree, parent, name, old: null };
  }
  if (entry.isDirectory) throw new Fault("ResourceTypeMismatch");
  if (judgeOverwrite(asked.access, guardOf(share), view.now()) !== null) {
    throw new Fault("AuthorizationPermissionMismatch");
  }
  requireCompatibleOpens(view, tree, entry.id, operation, ALL_BYTES);
  const old = readFile(view, tree, entry.id);
  requireChangeable(view, old, asked.leaseId, ignoresReadOnly);
  return { share, tree, parent, name, old };
}

/** Checks common to all operations on an existing file. */
export function admitToFile(
  view: View,
  asked: PathAsked,
  operation: FileOperation,
  touched: Touched | null = null,
  need: Need = FILE_NEEDS[operation],
): InFile {
  const { share, tree, entry } = admitToName(view, asked, need);
  if (entry === null) throw new Fault("ResourceNotFound");
  if (entry.isDirectory) throw new Fault("ResourceTypeMismatch");
  requireCompatibleOpens(view, tree, entry.id, operation, touched);
  return { share, tree, file: readFile(view, tree, entry.id) };
}

/** Checks that the file itself permits changes. */
export function requireChangeable(
  view: View,
  file: File,
  leaseId: string | null,
  ignoresReadOnly: boolean,
): void {
  if (!ignoresReadOnly && isReadOnly(file.attributes)) throw new Fault("ReadOnlyAttribute");
  refuse(judgeWriteByLease(file.lease, leaseId, view.now(), "File"));
  refuse(judgeByPendingCopy(file.copy));
}

function pathOf({ path, trailingDots }: PathAddress): readonly string[] {
  const names = trailingDots ? path : path.map(withoutTrailingDots);
  refuse(judgeFilePath(names));
  return names;
}

/** The id of the directory that contains the last name of a path. */
export function parentOf(view: View, tree: Tree, path: readonly string[]): bigint {
  let parent = ROOT_ID;
  for (let level = 0; level < path.length - 1; level++) {
    const entry = readEntry(view, tree, parent, path[level] as string);
    if (!entry?.isDirectory) throw new Fault("ParentNotFound");
    parent = entry.id;
  }
  return parent;
}

function guardOf(share: Share | null) {
  return share === null ? null : { publicAccess: "none" as const, policies: share.policies };
}

export interface InShare {
  readonly share: Share;
  readonly tree: Tree;
}

export interface InDirectory extends InShare {
  readonly parent: bigint;
  readonly name: string;
  readonly entry: DirectoryEntry | null;
}

export interface InFile extends InShare {
  readonly file: File;
}

export interface FileCreation extends InShare {
  readonly parent: bigint;
  readonly name: string;
  readonly old: File | null;
}
