import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { leaseAfterWrite } from "../../rules/lease.ts";
import type { Contents } from "../../store/contents.ts";
import type { Transaction } from "../../store/store.ts";
import { isShown, preserve, type Tree } from "./preserved-records.ts";
import { type Directory, directoryKey, type File, fileKey } from "./tree-records.ts";

/**
 * ETag and time of a new version. The time never goes backwards, even if the clock does, because
 * clients order updates by it.
 */
export function nextVersion(tx: Transaction, old: Versioned | null): Versioned {
  return { etag: tx.stamp(), modifiedMs: Math.max(tx.now(), old?.modifiedMs ?? 0) };
}

/** The fields that every write of a directory renews. */
export interface DirectoryVersion extends Versioned {
  readonly since: bigint;
  readonly changed: FileTime;
}

export interface FileVersion extends DirectoryVersion {
  readonly lease: File["lease"];
}

/**
 * The next version of a directory. Called before any change, because it preserves what a snapshot
 * shows.
 */
export function nextDirectoryVersion(
  tx: Transaction,
  tree: Tree,
  old: Directory,
): DirectoryVersion {
  if (isShown(tree, old)) preserve(tx, tree, directoryKey(tree, old.id));
  const { etag, modifiedMs } = nextVersion(tx, old);
  return { since: etag, etag, modifiedMs, changed: fileTimeOfStamp(etag) };
}

/**
 * The next version of a file. Called before the content changes, because it preserves what a
 * snapshot shows.
 */
export function nextFileVersion(
  tx: Transaction,
  tree: Tree,
  contents: Contents,
  old: File,
): FileVersion {
  if (isShown(tree, old)) {
    preserve(tx, tree, fileKey(tree, old.id));
    contents.share(tx, old.content);
  }
  const { etag, modifiedMs } = nextVersion(tx, old);
  const lease = leaseAfterWrite(old.lease, tx.now());
  return { since: etag, etag, modifiedMs, changed: fileTimeOfStamp(etag), lease };
}

/**
 * The file after a write. Written field by field for speed: every SMB and REST write comes here.
 */
export function writtenFile(
  old: File,
  version: FileVersion,
  written: FileTime,
  content: File["content"],
): File {
  return {
    since: version.since,
    id: old.id,
    parent: old.parent,
    name: old.name,
    etag: version.etag,
    modifiedMs: version.modifiedMs,
    attributes: old.attributes,
    created: old.created,
    accessed: old.accessed,
    written,
    changed: version.changed,
    permissionKey: old.permissionKey,
    metadata: old.metadata,
    content,
    properties: old.properties,
    lease: version.lease,
    copy: old.copy,
  };
}
