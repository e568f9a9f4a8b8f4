import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
import { objectName, type StoredObjects } from "../shared/stored-objects.ts";
import { decodeBlob, decodeContainer, decodeStagedBlob, decodeStagedBlock } from "./records.ts";
import { decodeDeleted } from "./revision-records.ts";

const KINDS: ReadonlyMap<number, string> = new Map<number, string>([
  [SPACE.container, "container"],
  [SPACE.deletedContainer, "deleted container"],
  [SPACE.blob, "blob"],
  [SPACE.blobSnapshot, "snapshot of blob"],
  [SPACE.blobVersion, "version of blob"],
  [SPACE.deletedBlob, "deleted blob"],
  [SPACE.deletedRevision, "deleted snapshot or version of blob"],
  [SPACE.deletedPath, "deleted blob"],
  [SPACE.stagedBlob, "uncommitted blob"],
  [SPACE.stagedBlock, "uncommitted block of blob"],
]);

export const STORED_BLOBS: StoredObjects = {
  spaces: [...KINDS.keys()] as Space[],
  nameOf(view, found) {
    const space = found[0] as number;
    const kind = KINDS.get(space) ?? "blob";
    const parts = new KeyReader(found);
    if (space === SPACE.container || space === SPACE.deletedContainer) {
      return objectName(kind, parts.text(), parts.text());
    }
    if (space === SPACE.stagedBlock) return objectName(kind, stagedBlobOf(view, parts.u64()));
    return objectName(kind, pathOf(view, parts.u64()), parts.text());
  },
  contentOf(found, value) {
    switch (found[0]) {
      case SPACE.blob:
      case SPACE.blobSnapshot:
      case SPACE.blobVersion:
        return decodeBlob(value).content;
      case SPACE.deletedBlob:
      case SPACE.deletedRevision:
      case SPACE.deletedPath:
        return decodeDeleted(value).blob.content;
      case SPACE.stagedBlock:
        return decodeStagedBlock(value).content;
      default:
        return null;
    }
  },
};

const ALL = { limit: Number.POSITIVE_INFINITY, skipsDamaged: true };

/**
 * Finds the path of a container, or of a directory in one: `account/container/directory`. Reads all
 * containers, and then all blobs, because blob keys have only the id of what holds the blob.
 */
function pathOf(view: View, id: bigint): string {
  const container = containerOf(view, id);
  if (container !== null) return container;
  const directory = entriesOf(view, SPACE.blob).find(
    ({ value }) => decodeBlob(value).path?.directoryId === id,
  );
  // It may be deleted, or damaged itself.
  if (directory === undefined) return `container ${id}`;
  const parts = new KeyReader(directory.key);
  return `${pathOf(view, parts.u64())}/${parts.text()}`;
}

function containerOf(view: View, id: bigint): string | null {
  const found = entriesOf(view, SPACE.container).find(
    ({ value }) => decodeContainer(value).id === id,
  );
  if (found === undefined) return null;
  const parts = new KeyReader(found.key);
  return `${parts.text()}/${parts.text()}`;
}

function entriesOf(view: View, space: Space): Entry[] {
  const all = key(space);
  return view.range(all, keyAfter(all), ALL);
}

function stagedBlobOf(view: View, id: bigint): string {
  for (const entry of entriesOf(view, SPACE.stagedBlob)) {
    if (decodeStagedBlob(entry.value).id !== id) continue;
    const parts = new KeyReader(entry.key);
    return `${pathOf(view, parts.u64())}/${parts.text()}`;
  }
  return `blob ${id}`;
}
