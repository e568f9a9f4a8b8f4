import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { objectName, type StoredObjects } from "../shared/stored-objects.ts";
import { ItemPaths } from "./item-paths.ts";
import { originalKey } from "./preserved-records.ts";
import { shareOfEntry } from "./records.ts";
import { decodeEntry, decodeFile, nameInEntryKey } from "./tree-records.ts";

const KINDS: ReadonlyMap<number, string> = new Map<number, string>([
  [SPACE.directory, "directory"],
  [SPACE.file, "file"],
  [SPACE.directoryEntry, "entry of a directory"],
]);

export const STORED_FILES: StoredObjects = {
  spaces: [
    SPACE.share,
    SPACE.shareSnapshot,
    SPACE.directoryEntry,
    SPACE.directory,
    SPACE.file,
    SPACE.preservedRecord,
  ],
  nameOf(view, found) {
    const parts = new KeyReader(found);
    if (found[0] === SPACE.share) return objectName("share", parts.text(), parts.text());
    if (found[0] === SPACE.shareSnapshot) {
      return objectName("snapshot of share", shareOf(view, parts.u64()));
    }
    if (found[0] === SPACE.preservedRecord)
      return `snapshot of ${nameInTree(view, originalKey(found))}`;
    return nameInTree(view, found);
  },
  contentOf(found, value) {
    const at = found[0] === SPACE.preservedRecord ? originalKey(found) : found;
    return at[0] === SPACE.file ? decodeFile(value).content : null;
  },
};

function nameInTree(view: View, found: Bytes): string {
  const kind = KINDS.get(found[0] as number) ?? "record of a share";
  const parts = new KeyReader(found);
  const share = parts.u64();
  const id = parts.u64();
  const path =
    found[0] === SPACE.directoryEntry
      ? `${pathOf(view, share, id, true)}/${nameInEntryKey(found)}`
      : pathOf(view, share, id, found[0] === SPACE.directory);
  return objectName(kind, shareOf(view, share), path);
}

/** Finds the path by the item's own record, or else by its entry. */
function pathOf(view: View, share: bigint, id: bigint, isDirectory: boolean): string {
  const tree = { share, newestSnapshot: 0n, snapshot: null };
  const paths = new ItemPaths(view, tree);
  const found = unlessDamaged(() => paths.of(id, isDirectory).path);
  if (found !== null) return found;
  const all = key(SPACE.directoryEntry, share);
  const options = { limit: Number.POSITIVE_INFINITY, skipsDamaged: true };
  const entry = view
    .range(all, keyAfter(all), options)
    .find(({ value }) => decodeEntry(value).id === id);
  if (entry === undefined) return `${isDirectory ? "directory" : "file"} ${id}`;
  const parts = new KeyReader(entry.key);
  parts.u64();
  const parent = unlessDamaged(() => paths.of(parts.u64(), true).path) ?? "";
  return `${parent === "" ? "" : `${parent}/`}${nameInEntryKey(entry.key)}`;
}

/** `account/share` */
function shareOf(view: View, id: bigint): string {
  const all = key(SPACE.share);
  const options = { limit: Number.POSITIVE_INFINITY, skipsDamaged: true };
  const found = view
    .range(all, keyAfter(all), options)
    .find((entry) => shareOfEntry(entry).share.id === id);
  if (found === undefined) return `share ${id}`;
  const parts = new KeyReader(found.key);
  return `${parts.text()}/${parts.text()}`;
}
