import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, SPACE } from "../../base/keys.ts";
import type { View } from "../../store/store.ts";
import { decodeOpens, type HandleId, placeOfHandleKey } from "./open-records.ts";
import { decodeShare } from "./records.ts";
import {
  type Directory,
  decodeDirectory,
  decodeFile,
  directoryKey,
  type File,
  ROOT_ID,
} from "./tree-records.ts";

/** The place of an item: the ids and names on the path to it. */
export interface ChangedPlace {
  /** From the root to the parent directory. */
  readonly directories: readonly bigint[];
  /** From the root; the last name is the item's own. */
  readonly path: readonly string[];
}

export type ChangedPart =
  | "attributes"
  | "size"
  | "written"
  | "accessed"
  | "created"
  | "metadata"
  | "permission";

/** A change that one transaction made to one file or directory. */
export type FileChange = { readonly share: bigint } & (
  | { readonly kind: "added" | "removed"; readonly isDirectory: boolean; readonly at: ChangedPlace }
  | {
      readonly kind: "modified";
      readonly at: ChangedPlace;
      readonly parts: ReadonlySet<ChangedPart>;
    }
  | {
      readonly kind: "moved";
      readonly isDirectory: boolean;
      readonly from: ChangedPlace;
      readonly at: ChangedPlace;
    }
  /** The item is pending deletion and cannot be opened any more. */
  | { readonly kind: "doomed"; readonly id: bigint }
  /** A byte-range lock was removed. */
  | { readonly kind: "unlocked"; readonly id: bigint }
  | { readonly kind: "closed"; readonly id: bigint; readonly handle: HandleId }
  /** The share was deleted, and all its handles with it. */
  | { readonly kind: "shareRemoved" }
);

/** Records as they were before a transaction; undefined for those that did not exist. */
export type Before = ReadonlyMap<
  string,
  { readonly key: Bytes; readonly value: Bytes | undefined }
>;

/**
 * Spaces of records whose changes are reported. All keys but the shares' own begin with the share.
 */
const TOLD: ReadonlySet<number | undefined> = new Set([
  SPACE.file,
  SPACE.directory,
  SPACE.opens,
  SPACE.handle,
  SPACE.rangeLock,
  SPACE.share,
]);

/** The share whose watchers hear of this record; null if its changes are not reported. */
export function shareToTell(view: View, key: Bytes): bigint | null {
  if (!TOLD.has(key[0])) return null;
  if (key[0] !== SPACE.share) return new KeyReader(key).u64();
  const found = view.get(key);
  return found === undefined ? null : decodeShare(found).id;
}

/** The changes of a transaction, from the records before it and at its end. */
export function changesBetween(before: Before, view: View): FileChange[] {
  const places = new Places(before, view);
  const changes: FileChange[] = [];
  for (const { key, value } of before.values()) {
    const change = changeOfRecord(places, key, value, view.get(key));
    if (change !== null) changes.push(change);
  }
  return changes;
}

function changeOfRecord(
  places: Places,
  key: Bytes,
  before: Bytes | undefined,
  now: Bytes | undefined,
): FileChange | null {
  const isGone = before !== undefined && now === undefined;
  const parts = new KeyReader(key);
  switch (key[0]) {
    case SPACE.share:
      return isGone ? { kind: "shareRemoved", share: decodeShare(before).id } : null;
    case SPACE.opens:
      return doomed(key, before, now);
    case SPACE.rangeLock:
      return isGone ? { kind: "unlocked", share: parts.u64(), id: parts.u64() } : null;
    case SPACE.handle:
      return isGone ? { kind: "closed", ...placeOfHandleKey(key) } : null;
    default:
      return changeOf(places, parts.u64(), key[0] === SPACE.directory, before, now);
  }
}

function doomed(key: Bytes, before: Bytes | undefined, now: Bytes | undefined): FileChange | null {
  const isPending = (found: Bytes | undefined) =>
    found !== undefined && decodeOpens(found).isDeletePending;
  if (isPending(before) || !isPending(now)) return null;
  const parts = new KeyReader(key);
  return { kind: "doomed", share: parts.u64(), id: parts.u64() };
}

function changeOf(
  places: Places,
  share: bigint,
  isDirectory: boolean,
  before: Bytes | undefined,
  now: Bytes | undefined,
): FileChange | null {
  const decode = isDirectory ? decodeDirectory : decodeFile;
  const old = before === undefined ? null : decode(before);
  const item = now === undefined ? null : decode(now);
  // The root has no name, so its changes are not reported.
  if ((item ?? old)?.id === ROOT_ID) return null;
  if (item === null) {
    return old === null ? null : { kind: "removed", share, isDirectory, at: places.of(share, old) };
  }
  const at = places.of(share, item);
  if (old === null) return { kind: "added", share, isDirectory, at };
  if (old.parent !== item.parent || old.name !== item.name) {
    return { kind: "moved", share, isDirectory, from: places.of(share, old), at };
  }
  const parts = changedParts(old, item);
  return parts.size === 0 ? null : { kind: "modified", share, at, parts };
}

function changedParts(old: Directory | File, item: Directory | File): Set<ChangedPart> {
  const parts = new Set<ChangedPart>();
  for (const part of ["attributes", "written", "accessed", "created"] as const) {
    if (old[part] !== item[part]) parts.add(part);
  }
  if (old.permissionKey !== item.permissionKey) parts.add("permission");
  if (sizeOf(old) !== sizeOf(item)) parts.add("size");
  if (described(old) !== described(item)) parts.add("metadata");
  return parts;
}

function sizeOf(item: Directory | File): number {
  return "content" in item ? item.content.length : 0;
}

function described(item: Directory | File): string {
  return JSON.stringify([item.metadata, "properties" in item ? item.properties : null]);
}

/** Finds the path to a changed item, through directories that the same transaction may remove. */
class Places {
  readonly #before: Before;
  readonly #view: View;

  constructor(before: Before, view: View) {
    this.#before = before;
    this.#view = view;
  }

  of(share: bigint, { parent, name }: Directory): ChangedPlace {
    const directories: bigint[] = [];
    const path = [name];
    for (let id = parent; id !== ROOT_ID; ) {
      directories.unshift(id);
      const above = this.#directory(share, id);
      path.unshift(above.name);
      id = above.parent;
    }
    return { directories: [ROOT_ID, ...directories], path };
  }

  #directory(share: bigint, id: bigint): Directory {
    const key = directoryKey({ share }, id);
    const found = this.#view.get(key) ?? this.#before.get(key.toString("latin1"))?.value;
    if (found === undefined) throw new Error(`directory ${id} holds something and has no record`);
    return decodeDirectory(found);
  }
}
