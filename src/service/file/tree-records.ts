import type { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import {
  added,
  count,
  flag,
  format,
  pairs,
  type RecordOf,
  skippedPairs,
  text,
  u64,
  units,
} from "../../base/fields.ts";
import { KeyReader, key, keyAfter, ordinalPart, SPACE } from "../../base/keys.ts";
import { fileNameKey } from "../../rules/file-name.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Content } from "../../store/content.ts";
import type { Contents } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { contentProperties, storedContent } from "../shared/content-field.ts";
import { storedCopy } from "../shared/copy-field.ts";
import { storedLease } from "../shared/lease-field.ts";
import { isShown, needsInTree, preserve, readInTree, type Tree } from "./preserved-records.ts";
import { addUsage } from "./share-usage.ts";

/** The root directory of every share. */
export const ROOT_ID = 0n;

/** An entry: a name in a directory, and the id it stands for. Names are compared without case. */
const entryShape = {
  since: u64,
  id: u64,
  isDirectory: flag,
};

const directoryShape = {
  since: u64,
  id: u64,
  parent: u64,
  /** As the client wrote it, in its case. */
  name: units,
  etag: u64,
  modifiedMs: count,
  /** SMB's attribute bits. */
  attributes: count,
  /** File times; clients may set these four. */
  created: u64,
  accessed: u64,
  written: u64,
  changed: u64,
  permissionKey: text,
  metadata: pairs,
};

const fileShape = {
  ...directoryShape,
  content: storedContent,
  properties: contentProperties,
  lease: storedLease,
  /** The last copy to this file, until the file is replaced. */
  copy: added(storedCopy, null),
};

export type DirectoryEntry = Readonly<RecordOf<typeof entryShape>>;
export type Directory = Readonly<RecordOf<typeof directoryShape>>;
export type File = Readonly<RecordOf<typeof fileShape>>;
/** An item as lists show it: decoding its metadata would take longer than all the rest. */
export type ListedItem = Omit<Directory, "metadata"> | Omit<File, "metadata" | "lease">;
export type FileProperties = Readonly<File["properties"]>;

const entryFormat = format(1, entryShape);
const directoryFormat = format(1, directoryShape);
const fileFormat = format(1, fileShape);
const listedDirectoryFormat = format(1, { ...directoryShape, metadata: skippedPairs });
const listedFileFormat = format(1, { ...fileShape, metadata: skippedPairs });

export function entryKey({ share }: Tree, directory: bigint, name: string): Bytes {
  return key(SPACE.directoryEntry, share, directory, ordinalPart(fileNameKey(name)));
}

/** A name that finds the entry of this key again; its case is lost. */
export function nameInEntryKey(found: Bytes): string {
  const parts = new KeyReader(found);
  parts.u64();
  parts.u64();
  return parts.ordinal();
}

/** Prefix of the keys of entries whose names begin with `prefix`. */
export function entryKeyPrefix(tree: Tree, directory: bigint, prefix: string): Bytes {
  const whole = entryKey(tree, directory, prefix);
  return whole.subarray(0, whole.length - 1);
}

export function directoryKey({ share }: Pick<Tree, "share">, id: bigint): Bytes {
  return key(SPACE.directory, share, id);
}

export function fileKey({ share }: Tree, id: bigint): Bytes {
  return key(SPACE.file, share, id);
}

export function readEntry(
  view: View,
  tree: Tree,
  directory: bigint,
  name: string,
): DirectoryEntry | null {
  const found = readInTree(view, tree, entryKey(tree, directory, name));
  return found === undefined ? null : entryFormat.decode(found);
}

/** What a body reads to find the item of an entry. */
export function itemNeeds(tree: Tree, { id, isDirectory }: DirectoryEntry): Need[] {
  return needsInTree(tree, isDirectory ? directoryKey(tree, id) : fileKey(tree, id));
}

export function decodeEntry(found: Bytes): DirectoryEntry {
  return entryFormat.decode(found);
}

/** Writes an entry, and preserves the one it replaces for snapshots that show it. */
export function writeEntry(
  tx: Transaction,
  tree: Tree,
  directory: bigint,
  name: string,
  value: DirectoryEntry,
): void {
  const at = entryKey(tree, directory, name);
  keepEntry(tx, tree, at);
  tx.set(at, entryFormat.encode(value));
}

export function deleteEntry(tx: Transaction, tree: Tree, directory: bigint, name: string): void {
  const at = entryKey(tree, directory, name);
  keepEntry(tx, tree, at);
  tx.delete(at);
}

function keepEntry(tx: Transaction, tree: Tree, at: Bytes): void {
  const old = tx.get(at);
  if (old !== undefined && isShown(tree, entryFormat.decode(old))) preserve(tx, tree, at);
}

/** Whether the current directory has entries. */
export function hasEntries(view: View, tree: Tree, directory: bigint): boolean {
  const all = key(SPACE.directoryEntry, tree.share, directory);
  return view.range(all, keyAfter(all), { limit: 1 }).length > 0;
}

export function readDirectory(view: View, tree: Tree, id: bigint): Directory {
  const found = readInTree(view, tree, directoryKey(tree, id));
  if (found === undefined) throw new Error(`directory ${id} has an entry and no record`);
  return directoryFormat.decode(found);
}

/** Reads the item of an entry for a list, and counts what that costs. */
export function readListed(
  view: View,
  tree: Tree,
  { id, isDirectory }: DirectoryEntry,
  budget: BodyBudget,
): ListedItem {
  const at = isDirectory ? directoryKey(tree, id) : fileKey(tree, id);
  const found = readInTree(view, tree, at);
  if (found === undefined) throw new Error(`item ${id} has an entry and no record`);
  budget.spend(found.length);
  return isDirectory ? listedDirectoryFormat.decode(found) : listedFileFormat.decode(found);
}

export function readFile(view: View, tree: Tree, id: bigint): File {
  const found = findFile(view, tree, id);
  if (found === null) throw new Error(`file ${id} has an entry and no record`);
  return found;
}

/** Finds a file by its id; null if it is gone. Snapshots show no lease. */
export function findFile(view: View, tree: Tree, id: bigint): File | null {
  const found = readInTree(view, tree, fileKey(tree, id));
  if (found === undefined) return null;
  const file = fileFormat.decode(found);
  return tree.snapshot === null || file.lease === null ? file : { ...file, lease: null };
}

export function decodeDirectory(found: Bytes): Directory {
  return directoryFormat.decode(found);
}

export function decodeFile(found: Bytes): File {
  return fileFormat.decode(found);
}

/**
 * Writes a directory. A new version comes from `nextDirectoryVersion`, which preserves the old one.
 */
export function writeDirectory(tx: Transaction, tree: Tree, value: Directory): void {
  tx.set(directoryKey(tree, value.id), directoryFormat.encode(value));
}

/** Writes a file. A new version comes from `nextFileVersion`, which preserves the old one. */
export function writeFile(tx: Transaction, tree: Tree, value: File): void {
  tx.set(fileKey(tree, value.id), fileFormat.encode(value));
}

/** Removes a directory and its entry. */
export function removeDirectory(tx: Transaction, tree: Tree, directory: Directory): void {
  const at = directoryKey(tree, directory.id);
  if (isShown(tree, directory)) preserve(tx, tree, at);
  tx.delete(at);
  deleteEntry(tx, tree, directory.parent, directory.name);
}

/** Removes a file and its entry, and its bytes unless a snapshot shows them. */
export function removeFile(tx: Transaction, tree: Tree, contents: Contents, file: File): void {
  deleteEntry(tx, tree, file.parent, file.name);
  addUsage(tx, tree.share, file.id, -file.content.length);
  const left = retireFile(tx, tree, file);
  if (left !== null) contents.drop(tx, left);
  tx.delete(fileKey(tree, file.id));
}

/**
 * Called before a file's record is removed or replaced. Preserves the record, with the reference to
 * its content, if a snapshot shows it; otherwise returns the content, which the caller drops.
 */
export function retireFile(tx: Transaction, tree: Tree, file: File): Content | null {
  if (!isShown(tree, file)) return file.content;
  preserve(tx, tree, fileKey(tree, file.id));
  return null;
}
