import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { newAccessControl } from "../../rules/posix-acl.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { Contents } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { BlobContext } from "./context.ts";
import type { BlobPlace } from "./find-path.ts";
import {
  type Blob,
  type BlobPath,
  type ContainerId,
  decodeBlob,
  doomContainer,
  isExpired,
  type Metadata,
  NEW_BLOB,
  writeBlob,
} from "./records.ts";
import { nextVersion } from "./version.ts";

/** Directories of hierarchical containers: blobs without bytes that hold other blobs. */

export function isDirectory(blob: Blob): boolean {
  return blob.path !== null && blob.path.directoryId !== 0n;
}

/** Keys what lies in a directory. */
export function directoryOf({ path }: Blob): ContainerId {
  return { id: path?.directoryId ?? 0n };
}

const USUAL = { owner: null, group: null, mode: null, umask: null };

/** The path of a new file or directory at a place whose parents exist. */
export function newPath(tx: Transaction, { way }: BlobPlace, kind: PathKind): BlobPath {
  if (way === null) throw new Error("a flat container has no directories");
  const isDirectory = kind === "directory";
  return {
    directoryId: isDirectory ? tx.stamp() : 0n,
    control: newAccessControl(way.control, way.visitor.creator, { ...USUAL, isDirectory }),
  };
}

/** Creates the directories above a place that do not exist yet. Returns the place below them. */
export function makeParents(context: BlobContext, tx: Transaction, place: BlobPlace): BlobPlace {
  const { account, name, way } = place;
  if (way === null || way.missing.length === 0) return place;
  let made: BlobPlace = { ...place, parent: way.within };
  for (const missing of way.missing) {
    const path = newPath(tx, made, "directory");
    writeBlob(tx, { parent: made.parent, name: missing }, newDirectory(context, tx, path));
    const parent = { id: path.directoryId };
    const { control } = path;
    made = { account, parent, name, way: { ...way, within: parent, missing: [], control } };
  }
  return made;
}

function newDirectory({ contents }: BlobContext, tx: Transaction, path: BlobPath): Blob {
  return {
    ...NEW_BLOB,
    ...nextVersion(tx, null),
    type: "BlockBlob",
    createdMs: tx.now(),
    content: contents.compose(tx, []),
    properties: NO_PROPERTIES,
    metadata: DIRECTORY_METADATA,
    lease: null,
    versionId: 0n,
    path,
  };
}

/** How the Blob endpoint shows that a blob is a directory. */
export const DIRECTORY_METADATA: Metadata = [["hdi_isfolder", "true"]];

export const NO_PROPERTIES = {
  contentType: "",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};

/** Drops the bytes of a blob whose record goes. The sweeper removes what lies in a directory. */
export function discardBlob(contents: Contents, tx: Transaction, blob: Blob): void {
  contents.drop(tx, blob.content);
  if (isDirectory(blob)) doomContainer(tx, directoryOf(blob));
}

/** Entries to read at a time: nearly always, the first one is a file or directory that is there. */
const FEW_ENTRIES = 8;

/** Whether anything lies in a directory. */
export function hasEntries(view: View, { id }: ContainerId): boolean {
  const all = key(SPACE.blob, id);
  for (let from = all; ; ) {
    const entries = view.range(from, keyAfter(all), { limit: FEW_ENTRIES });
    if (entries.some((entry) => !isExpired(decodeBlob(entry.value), view.now()))) return true;
    const last = entries.at(-1);
    if (last === undefined || entries.length < FEW_ENTRIES) return false;
    from = keyAfter(last.key);
  }
}
