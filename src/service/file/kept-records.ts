import type { Bytes } from "../../base/bytes.ts";
import { format, u64 } from "../../base/fields.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Transaction, View } from "../../store/store.ts";

/**
 * The tree of a share in one of its states: as it is now, or as a snapshot saw it. Every record of
 * a tree begins with the stamp of the write that made it. A write that finds a record from before
 * the newest snapshot keeps it under that snapshot's stamp; so taking a snapshot costs nothing,
 * however much the share holds, and each record is kept once between two snapshots.
 */
export interface Tree {
  /** The share's id, with which the keys of all its records begin. */
  readonly share: bigint;
  /** 0 without any. */
  readonly newestSnapshot: Stamp;
  /** The snapshot that is looked at; null for the share as it is now. */
  readonly snapshot: Stamp | null;
}

/** Every kind of record of a tree has this format and begins with this field. */
const sinceFormat = format(1, { since: u64 });

export function sinceOf(record: Bytes): Stamp {
  return sinceFormat.decode(record).since;
}

/** What is stored under a key in the state that the tree shows. */
export function readInTree(view: View, tree: Tree, at: Bytes): Bytes | undefined {
  const { snapshot } = tree;
  if (snapshot === null) return view.get(at);
  const [kept] = view.range(keptKey(at, snapshot), keyAfter(keptPrefix(at)), { limit: 1 });
  const found = kept?.value ?? view.get(at);
  return found !== undefined && sinceOf(found) <= snapshot ? found : undefined;
}

/** Whether a snapshot shows this record, so that it must be kept when it changes. */
export function isShown(tree: Tree, record: { readonly since: Stamp }): boolean {
  return record.since <= tree.newestSnapshot;
}

/** Keeps what stands under a key now; to be called before it changes, and only if it is shown. */
export function keep(tx: Transaction, tree: Tree, at: Bytes): void {
  const found = tx.get(at);
  if (found !== undefined) tx.set(keptKey(at, tree.newestSnapshot), found);
}

/** The key of the record that was kept under this one. */
export function originalKey(kept: Bytes): Bytes {
  const share = kept.subarray(1, SHARE_ID_END);
  const space = kept.subarray(SHARE_ID_END, SHARE_ID_END + 1);
  return Buffer.concat([space, share, kept.subarray(SHARE_ID_END + 1, kept.length - STAMP_BYTES)]);
}

/** The snapshot for which it was kept. */
export function stampOfKept(kept: Bytes): Stamp {
  return kept.readBigUInt64BE(kept.length - STAMP_BYTES);
}

/** The space of the record that was kept under this key. */
export function spaceOfKept(kept: Bytes): number {
  return kept[SHARE_ID_END] as number;
}

const SHARE_ID_END = 9;
const STAMP_BYTES = 8;

/** Records of one share lie together, and versions of one record, the oldest first. */
function keptKey(at: Bytes, snapshot: Stamp): Bytes {
  return Buffer.concat([keptPrefix(at), key(SPACE.keptRecord, snapshot).subarray(1)]);
}

/** Where the versions of a record begin, or of all records that begin so. */
export function keptPrefix(at: Bytes): Bytes {
  const share = at.subarray(1, SHARE_ID_END);
  return key(SPACE.keptRecord, share, at.subarray(0, 1), at.subarray(SHARE_ID_END));
}
