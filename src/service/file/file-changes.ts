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

/** Where something lies: the ids and the names of the way to it. */
export interface ChangedPlace {
  /** From the root to the directory that it lies in. */
  readonly directories: readonly bigint[];
  /** From the root on; the last name is its own. */
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

/** What one transaction did to one file or directory. */
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
  /** It goes with its last handle, and nobody opens it any more. */
  | { readonly kind: "doomed"; readonly id: bigint }
  /** A byte-range lock on it is gone. */
  | { readonly kind: "unlocked"; readonly id: bigint }
  | { readonly kind: "closed"; readonly id: bigint; readonly handle: HandleId }
  /** The share itself is out of reach, and with it every handle. */
  | { readonly kind: "shareRemoved" }
);

/** Records as they were before a transaction; undefined for those that were not there. */
export type Before = ReadonlyMap<
  string,
  { readonly key: Bytes; readonly value: Bytes | undefined }
>;

/** The spaces of records whose changes are told. All but the shares' own begin with the share. */
const TOLD: ReadonlySet<number | undefined> = new Set([
  SPACE.file,
  SPACE.directory,
  SPACE.opens,
  SPACE.handle,
  SPACE.rangeLock,
  SPACE.share,
]);

/** The share whose watchers are told of this record; null if it is nobody's business. */
export function shareToTell(view: View, key: Bytes): bigint | null {
  if (!TOLD.has(key[0])) return null;
  if (key[0] !== SPACE.share) return new KeyReader(key).u64();
  const found = view.get(key);
  return found === undefined ? null : decodeShare(found).id;
}

/** What a transaction did, from what was there before and what is there at its end. */
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
  // The root has no name that it could be told by.
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

/** The way to what changed, through directories that may have gone in the same transaction. */
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
