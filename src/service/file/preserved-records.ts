import type { Bytes } from "../../base/bytes.ts";
import { format, u64 } from "../../base/fields.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Transaction, View } from "../../store/store.ts";

/**
 * The tree of a share, current or as one snapshot shows it. Every record of a tree begins with the
 * stamp of the write that made it. A write that replaces a record older than the newest snapshot
 * first preserves it under that snapshot's stamp. So taking a snapshot costs the same for every
 * share, and each record is preserved at most once between two snapshots.
 */
export interface Tree {
  /** The share's id, with which the keys of all its records begin. */
  readonly share: bigint;
  /** 0 if there are none. */
  readonly newestSnapshot: Stamp;
  /** The snapshot to read; null for the current share. */
  readonly snapshot: Stamp | null;
}

/** Every kind of record of a tree has this format and begins with this field. */
const sinceFormat = format(1, { since: u64 });

export function sinceOf(record: Bytes): Stamp {
  return sinceFormat.decode(record).since;
}

/** The value of a key in the tree, which may be a preserved one. */
export function readInTree(view: View, tree: Tree, at: Bytes): Bytes | undefined {
  const { snapshot } = tree;
  if (snapshot === null) return view.get(at);
  const [preserved] = view.range(preservedKey(at, snapshot), keyAfter(preservedPrefix(at)), {
    limit: 1,
  });
  const found = preserved?.value ?? view.get(at);
  return found !== undefined && sinceOf(found) <= snapshot ? found : undefined;
}

/** What `readInTree` reads. */
export function needsInTree({ snapshot }: Tree, at: Bytes): Need[] {
  if (snapshot === null) return [at];
  const from = preservedKey(at, snapshot);
  return [at, { from, until: keyAfter(preservedPrefix(at)), options: { limit: 1 } }];
}

/** Whether a snapshot shows this record, so that a change must preserve it first. */
export function isShown(tree: Tree, record: { readonly since: Stamp }): boolean {
  return record.since <= tree.newestSnapshot;
}

/**
 * Preserves the current value of a key. Called before the value changes, and only if it is shown.
 */
export function preserve(tx: Transaction, tree: Tree, at: Bytes): void {
  const found = tx.get(at);
  if (found !== undefined) tx.set(preservedKey(at, tree.newestSnapshot), found);
}

/** The key that a preserved record had. */
export function originalKey(preserved: Bytes): Bytes {
  const share = preserved.subarray(1, SHARE_ID_END);
  const space = preserved.subarray(SHARE_ID_END, SHARE_ID_END + 1);
  return Buffer.concat([
    space,
    share,
    preserved.subarray(SHARE_ID_END + 1, preserved.length - STAMP_BYTES),
  ]);
}

/** The snapshot for which a record was preserved. */
export function stampOfPreserved(preserved: Bytes): Stamp {
  return preserved.readBigUInt64BE(preserved.length - STAMP_BYTES);
}

/** The space that a preserved record came from. */
export function spaceOfPreserved(preserved: Bytes): number {
  return preserved[SHARE_ID_END] as number;
}

const SHARE_ID_END = 9;
const STAMP_BYTES = 8;

/** The records of one share lie together; so do the versions of one record, oldest first. */
function preservedKey(at: Bytes, snapshot: Stamp): Bytes {
  return Buffer.concat([preservedPrefix(at), key(SPACE.preservedRecord, snapshot).subarray(1)]);
}

/** Prefix of the preserved versions of a record, or of all records whose keys begin with `at`. */
export function preservedPrefix(at: Bytes): Bytes {
  const share = at.subarray(1, SHARE_ID_END);
  return key(SPACE.preservedRecord, share, at.subarray(0, 1), at.subarray(SHARE_ID_END));
}
