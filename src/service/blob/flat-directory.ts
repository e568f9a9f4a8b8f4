import { keyAfter, keyOfTextPrefix, SPACE } from "../../base/keys.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { View } from "../../store/store.ts";
import { directoryOf, hasEntries, isDirectory } from "./directories.ts";
import type { BlobPlace } from "./find-path.ts";
import {
  type Blob,
  type ContainerId,
  decodeBlob,
  type Metadata,
  nameOfBlobKey,
} from "./records.ts";

/**
 * Directories of flat containers. Such a directory is a blob without bytes whose metadata marks it,
 * or exists because the names of other blobs begin with its name and a slash, or both.
 */

const MARK = "hdi_isfolder";

export function isMarked(metadata: Metadata): boolean {
  return metadata.some((pair) => isMark(pair) && pair[1].toLowerCase() === "true");
}

export function isMark([name]: Metadata[number]): boolean {
  return name.toLowerCase() === MARK;
}

/** Metadata as given, with the mark of a directory. */
export function withMark(metadata: Metadata): Metadata {
  const others = metadata.filter((pair) => !isMark(pair));
  return [...others, [MARK, "true"]];
}

/** In a hierarchical container the record itself says what it is. */
export function kindOf({ path, metadata }: Pick<Blob, "path" | "metadata">): PathKind {
  const isDirectory = path === null ? isMarked(metadata) : path.directoryId !== 0n;
  return isDirectory ? "directory" : "file";
}

export interface NamedBlob {
  readonly name: string;
  readonly blob: Blob;
}

/** Up to `limit` blobs in a directory and below it, in the order of their names. */
export function blobsBelow(
  view: View,
  { id }: ContainerId,
  directory: string,
  limit: number,
): NamedBlob[] {
  const all = keyOfTextPrefix(SPACE.blob, [id], belowOf(directory));
  return view
    .range(all, keyAfter(all), { limit })
    .map((entry) => ({ name: nameOfBlobKey(entry.key), blob: decodeBlob(entry.value) }));
}

export function hasBelow(view: View, container: ContainerId, directory: string): boolean {
  return blobsBelow(view, container, directory, 1).length > 0;
}

/** What the names of all blobs in a directory begin with. "" is the root. */
export function belowOf(directory: string): string {
  return directory === "" ? "" : `${directory}/`;
}

/** The kind of a path, given the blob of this name; null if nothing is there. */
export function kindAt(view: View, place: BlobPlace, blob: Blob | null): PathKind | null {
  if (blob !== null && kindOf(blob) === "directory") return "directory";
  if (place.way === null && hasBelow(view, place.parent, place.name)) return "directory";
  return blob === null ? null : "file";
}

/** Whether a path is a directory that holds anything, given the blob of this name. */
export function isFilled(view: View, place: BlobPlace, blob: Blob | null): boolean {
  if (place.way === null) return hasBelow(view, place.parent, place.name);
  return blob !== null && isDirectory(blob) && hasEntries(view, directoryOf(blob));
}
