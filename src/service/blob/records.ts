import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import {
  added,
  bytes,
  count,
  type Field,
  flag,
  format,
  listOf,
  oneOf,
  orNull,
  pairs,
  type RecordOf,
  struct,
  text,
  u64,
} from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { DASHED_NAME_CHARS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import { REHYDRATE_PRIORITIES, type StoredTier, TIERS } from "../../rules/tier.ts";
import type { Transaction, View } from "../../store/store.ts";
import { contentProperties, storedContent } from "../shared/content-field.ts";
import { copyShape } from "../shared/copy-field.ts";
import { storedLease } from "../shared/lease-field.ts";
import { storedPolicy } from "../shared/policy-field.ts";
import { storedAccessControl } from "./access-control-field.ts";
import type { BlobAddress, ContainerAddress } from "./context.ts";

const containerShape = {
  /** Keys the container's blobs, so that deleting the container takes one record. */
  id: u64,
  etag: u64,
  modifiedMs: count,
  lease: storedLease,
  publicAccess: oneOf("none", "blob", "container"),
  policies: listOf(storedPolicy),
  metadata: pairs,
  /** Whether its blobs lie in directories. A container never changes its kind. */
  isHierarchical: added(flag, false),
  /** Of the root directory. Null in a flat container. */
  control: added(orNull(storedAccessControl), null),
};

/** A container that was deleted and can still be restored. */
const deletedContainerShape = {
  deletedMs: count,
  /** From then on it is gone, even if the sweeper has not removed it yet. */
  untilMs: count,
  container: struct(containerShape),
};

/** Left for the sweeper, which finds the container's blobs by the id in the key. */
const doomedContainerShape = {};

const storedTier: Field<StoredTier> = struct({
  tier: oneOf(...TIERS),
  changedMs: count,
  rehydration: orNull(
    struct({ to: oneOf(...TIERS), priority: oneOf(...REHYDRATE_PRIORITIES), readyMs: count }),
  ),
});
/** The last copy to this blob, until the blob is replaced or its properties are set. */
const copy = orNull(
  struct({
    ...copyShape,
    /** For incremental copies: `snapshot` is the one that was taken of this blob. */
    isIncremental: flag,
    snapshot: u64,
    /** The source blob, regardless of its URL, and the last of its snapshots that was copied. */
    followed: added(text, ""),
    followedTo: added(u64, 0n),
  }),
);

/** Finds copies that a server stop interrupted. */
const pendingCopyShape = {
  account: text,
  container: text,
  blob: text,
  /** Where the target is, even if it or its container is renamed. 0 in older records. */
  parent: added(u64, 0n),
  name: added(text, ""),
  /** The front end that copies; 0 if there is only one. */
  frontEnd: added(count, 0),
};

/** The fields of a file or directory in a hierarchical container. */
const pathShape = {
  /** Keys what lies in the directory, so that renaming it takes one record. 0 for a file. */
  directoryId: u64,
  control: storedAccessControl,
};

const fileTermsShape = {
  /** From then on the file is gone, even if the sweeper has not removed it yet. */
  expiresMs: orNull(count),
  /** What a client wrote about the encryption that it does itself; "" for nothing. */
  encryptionContext: text,
};

/** Of a blob that is encrypted with a key of its client. */
const encryptionShape = {
  keySha256: bytes,
  /** What its record has no other place for, encrypted. */
  metadata: bytes,
};

const blobShape = {
  type: oneOf("BlockBlob", "PageBlob", "AppendBlob"),
  etag: u64,
  createdMs: count,
  modifiedMs: count,
  content: storedContent,
  properties: contentProperties,
  metadata: pairs,
  lease: storedLease,
  /** For page blobs only. */
  sequenceNumber: added(u64, 0n),
  /** For append blobs only, like `isSealed`. */
  appendedBlocks: added(count, 0),
  isSealed: added(flag, false),
  /** 0 for a revision that was written without versioning. */
  versionId: added(u64, 0n),
  tags: added(pairs, NO_TAGS),
  /** For block blobs only. Null until it is set. */
  tier: added(orNull(storedTier), null),
  copy: added(copy, null),
  /** Null in a flat container. A directory is a blob without bytes. */
  path: added(orNull(struct(pathShape)), null),
  /** Whether Data Lake wrote its bytes: then only Data Lake may add to them. */
  isDataLake: added(flag, false),
  /** Null for most blobs. Only files in hierarchical containers have them. */
  terms: added(orNull(struct(fileTermsShape)), null),
  /** Null for most blobs. */
  encryption: added(orNull(struct(encryptionShape)), null),
};

/** For records with a blob as their last field. */
export const blobFields = struct(blobShape);

/** Default fields of a new blob. */
export const NEW_BLOB = {
  sequenceNumber: 0n,
  appendedBlocks: 0,
  isSealed: false,
  tags: NO_TAGS,
  tier: null,
  copy: null,
  path: null,
  isDataLake: false,
  terms: null,
  encryption: null,
};

/** Uncommitted blocks of one blob name. Without a blob record beside it, no blob exists yet. */
const stagedBlobShape = {
  /** Keys the blocks, so that dropping them all takes one record. */
  id: u64,
  /** A new stamp with every block, by which readers detect changes. */
  changed: u64,
  firstMs: count,
  lastMs: count,
  blocks: count,
  /** The length of every block's id. 0 for data that Data Lake appends, which has no ids. */
  blockIdBytes: count,
};

/** Left for the sweeper: blocks of a staged blob that has been committed or replaced. */
const doomedStagedBlobShape = {
  /** False if the blob took over the contents: then only the block records are deleted. */
  dropContents: flag,
};

const stagedBlockShape = {
  content: storedContent,
  /** The hash of the key that the block is encrypted with. */
  keySha256: added(orNull(bytes), null),
};

export type Container = Readonly<RecordOf<typeof containerShape>>;
/** A container, or a directory in one: what keys the blobs that it holds. */
export type ContainerId = Pick<Container, "id">;
/** Where the records of a blob are: what holds the blob, and the blob's name there. */
export interface Place {
  readonly parent: ContainerId;
  readonly name: string;
}
export type DeletedContainer = Readonly<RecordOf<typeof deletedContainerShape>>;
export type Blob = Readonly<RecordOf<typeof blobShape>>;
/** The fields of a blob that depend on its encryption. */
export type EncryptedFields = Pick<Blob, "metadata" | "encryption">;
export type BlobProperties = Readonly<Blob["properties"]>;
export type StagedBlob = Readonly<RecordOf<typeof stagedBlobShape>>;
export type StagedBlock = Readonly<RecordOf<typeof stagedBlockShape>>;
export type DoomedStagedBlob = Readonly<RecordOf<typeof doomedStagedBlobShape>>;
export type PendingCopy = Readonly<RecordOf<typeof pendingCopyShape>>;
export type BlobPath = Readonly<NonNullable<Blob["path"]>>;
export type BlobCopy = Readonly<NonNullable<Blob["copy"]>>;
export type Metadata = Container["metadata"];

const containerFormat = format(1, containerShape);
const deletedContainerFormat = format(1, deletedContainerShape);
const doomedContainerFormat = format(1, doomedContainerShape);
const blobFormat = format(1, blobShape);
const stagedBlobFormat = format(1, stagedBlobShape);
const stagedBlockFormat = format(1, stagedBlockShape);
const pendingCopyFormat = format(1, pendingCopyShape);
const doomedStagedBlobFormat = format(1, doomedStagedBlobShape);

/** The current blob sorts behind its other revisions, which are keyed by their stamps. */
export const CURRENT = 0xffff_ffff_ffff_ffffn;

export function containerKey(at: ContainerAddress) {
  return key(SPACE.container, at.account, at.container);
}

export function blobKey({ parent, name }: Place) {
  return key(SPACE.blob, parent.id, name, CURRENT);
}

export function stagedBlobKey({ parent, name }: Place) {
  return key(SPACE.stagedBlob, parent.id, name);
}

export function stagedBlockKey(staged: { readonly id: bigint }, blockId: string) {
  return key(SPACE.stagedBlock, staged.id, blockId);
}

export function readContainer(view: View, at: ContainerAddress): Container | null {
  // No container has such a name, and the store may not accept it as a key.
  if (at.container.length > DASHED_NAME_CHARS_MAX) return null;
  const record = view.get(containerKey(at));
  return record === undefined ? null : decodedContainer(record);
}

let lastContainer: { readonly record: Bytes; readonly container: Container } | null = null;

/** Caches the last container: most operations read the same one, as the same buffer if cached. */
function decodedContainer(record: Bytes): Container {
  if (lastContainer?.record !== record) {
    lastContainer = { record, container: containerFormat.decode(record) };
  }
  return lastContainer.container;
}

export function writeContainer(tx: Transaction, at: ContainerAddress, value: Container): void {
  tx.set(containerKey(at), containerFormat.encode(value));
}

/** Deletes the container's record, which frees its name. */
export function deleteContainer(tx: Transaction, at: ContainerAddress): void {
  tx.delete(containerKey(at));
}

/** Leaves what a container or directory holds, which is unreachable now, to the sweeper. */
export function doomContainer(tx: Transaction, { id }: ContainerId): void {
  tx.set(key(SPACE.doomedContainer, id), doomedContainerFormat.encode({}));
}

/** `version` distinguishes deleted containers of the same name. */
export function deletedContainerKey(at: ContainerAddress, version: Stamp): Bytes {
  return key(SPACE.deletedContainer, at.account, at.container, version);
}

export function encodeDeletedContainer(value: DeletedContainer): Bytes {
  return deletedContainerFormat.encode(value);
}

export function decodeDeletedContainer(found: Bytes): DeletedContainer {
  return deletedContainerFormat.decode(found);
}

export function decodeContainer(found: Bytes): Container {
  return containerFormat.decode(found);
}

export function nameOfContainerKey(found: Bytes): string {
  const parts = new KeyReader(found);
  parts.text();
  return parts.text();
}

/** The version in the key of a deleted container. */
export function versionOfContainerKey(found: Bytes): Stamp {
  const parts = new KeyReader(found);
  parts.text();
  parts.text();
  return parts.u64();
}

/** Null also for a file that has expired. */
export function readBlob(view: View, place: Place): Blob | null {
  const found = readBlobRecord(view, place);
  if (found === undefined) return null;
  const blob = blobFormat.decode(found);
  return isExpired(blob, view.now()) ? null : blob;
}

/** Whether a file's time has come: then it is gone, though its record may still be there. */
export function isExpired({ terms }: Pick<Blob, "terms">, now: Instant): boolean {
  return terms !== null && terms.expiresMs !== null && terms.expiresMs <= now;
}

/** The encoded blob, for callers that need its length. */
export function readBlobRecord(view: View, place: Place): Bytes | undefined {
  return view.get(blobKey(place));
}

/** The path of the directory at a place; null if there is none. */
export function readDirectory(view: View, place: Place): BlobPath | null {
  const found = readBlobRecord(view, place);
  if (found === undefined) return null;
  const path = decodedPath(found, slotOf(place));
  return path === null || path.directoryId === 0n ? null : path;
}

/** A power of two. */
const SLOTS = 1_024;
const decodedPaths: { readonly record: Bytes; readonly path: BlobPath | null }[] = [];

/**
 * Caches the paths of directories: each request to a deep path reads several, and comparing the
 * bytes of a record is cheaper than decoding it.
 */
function decodedPath(record: Bytes, slot: number): BlobPath | null {
  const known = decodedPaths[slot];
  if (known !== undefined && record.equals(known.record)) return known.path;
  const { path } = blobFormat.decode(record);
  decodedPaths[slot] = { record, path };
  return path;
}

/** Records of several places may share a slot. */
function slotOf({ parent, name }: Place): number {
  let hash = Number(BigInt.asUintN(16, parent.id));
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) | 0;
  return hash & (SLOTS - 1);
}

export function decodeBlob(found: Bytes): Blob {
  return blobFormat.decode(found);
}

export function encodeBlob(value: Blob): Bytes {
  return blobFormat.encode(value);
}

/** The name in the key of a blob or a staged blob. */
export function nameOfBlobKey(found: Bytes): string {
  const parts = new KeyReader(found);
  parts.u64();
  return parts.text();
}

export function writeBlob(tx: Transaction, place: Place, value: Blob): void {
  tx.set(blobKey(place), blobFormat.encode(value));
}

export function deleteBlob(tx: Transaction, place: Place): void {
  tx.delete(blobKey(place));
}

export function readStagedBlob(view: View, place: Place): StagedBlob | null {
  const found = view.get(stagedBlobKey(place));
  return found === undefined ? null : stagedBlobFormat.decode(found);
}

export function writeStagedBlob(tx: Transaction, place: Place, value: StagedBlob): void {
  tx.set(stagedBlobKey(place), stagedBlobFormat.encode(value));
}

export function deleteStagedBlob(
  tx: Transaction,
  place: Place,
  staged: StagedBlob,
  left: DoomedStagedBlob,
): void {
  tx.delete(stagedBlobKey(place));
  tx.set(key(SPACE.doomedStagedBlob, staged.id), doomedStagedBlobFormat.encode(left));
}

/** Moves uncommitted blocks, if there are any, to another name. */
export function moveStagedBlob(tx: Transaction, from: Place, to: Place): void {
  const staged = readStagedBlob(tx, from);
  if (staged === null) return;
  tx.delete(stagedBlobKey(from));
  writeStagedBlob(tx, to, staged);
}

export function decodeStagedBlob(found: Bytes): StagedBlob {
  return stagedBlobFormat.decode(found);
}

export function decodeDoomedStagedBlob(found: Bytes): DoomedStagedBlob {
  return doomedStagedBlobFormat.decode(found);
}

export function decodeStagedBlock(found: Bytes): StagedBlock {
  return stagedBlockFormat.decode(found);
}

export function readStagedBlock(
  view: View,
  staged: StagedBlob,
  blockId: string,
): StagedBlock | null {
  const found = view.get(stagedBlockKey(staged, blockId));
  return found === undefined ? null : stagedBlockFormat.decode(found);
}

export function writeStagedBlock(
  tx: Transaction,
  staged: StagedBlob,
  blockId: string,
  value: StagedBlock,
): void {
  tx.set(stagedBlockKey(staged, blockId), stagedBlockFormat.encode(value));
}

export function deleteStagedBlock(tx: Transaction, staged: StagedBlob, blockId: string): void {
  tx.delete(stagedBlockKey(staged, blockId));
}

/** Deletes the record of a staged blob that has no blocks any more. */
export function deleteStagedBlobOnly(tx: Transaction, place: Place): void {
  tx.delete(stagedBlobKey(place));
}

/** A block with its id. */
export interface NamedBlock extends StagedBlock {
  readonly id: string;
}

/** Up to `limit` blocks, ordered by id, after the id `after`. */
export function readStagedBlocks(
  view: View,
  staged: StagedBlob,
  after: string | null,
  limit: number,
): NamedBlock[] {
  const all = key(SPACE.stagedBlock, staged.id);
  const from = after === null ? all : keyAfter(stagedBlockKey(staged, after));
  return view.range(from, keyAfter(all), { limit }).map((entry) => {
    const parts = new KeyReader(entry.key);
    parts.u64();
    const { content, keySha256 } = stagedBlockFormat.decode(entry.value);
    return { id: parts.text(), content, keySha256 };
  });
}

export function writePendingCopy(
  tx: Transaction,
  id: string,
  { account, container, blob }: BlobAddress,
  { parent, name }: Place,
  frontEnd: number,
): void {
  const value = { account, container, blob, parent: parent.id, name, frontEnd };
  tx.set(key(SPACE.pendingCopy, id), pendingCopyFormat.encode(value));
}

export function deletePendingCopy(tx: Transaction, id: string): void {
  tx.delete(key(SPACE.pendingCopy, id));
}

export function decodePendingCopy(found: Bytes): PendingCopy {
  return pendingCopyFormat.decode(found);
}

/** Up to `limit` pending copies with their ids, which sort behind `after`. */
export function readPendingCopies(
  view: View,
  limit: number,
  after = "",
): [id: string, copy: PendingCopy][] {
  const all = key(SPACE.pendingCopy);
  const from = after === "" ? all : keyAfter(key(SPACE.pendingCopy, after));
  return view.range(from, keyAfter(all), { limit }).map((entry) => {
    const copy = pendingCopyFormat.decode(entry.value);
    return [new KeyReader(entry.key).text(), copy];
  });
}
