import type { Bytes } from "../../base/bytes.ts";
import {
  count,
  format,
  listOf,
  oneOf,
  orNull,
  pairs,
  type RecordOf,
  u64,
} from "../../base/fields.ts";
import { KeyReader, key, SPACE } from "../../base/keys.ts";
import { SHARE_NAME_CHARS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { storedLease } from "../../store/lease-field.ts";
import { storedPolicy } from "../../store/policy-field.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ShareAddress } from "./context.ts";

/** Shares. What they hold is in `tree-records.ts`. */

const shareShape = {
  /** What the share holds is keyed by this, so that deleting it is one record. */
  id: u64,
  etag: u64,
  modifiedMs: count,
  lease: storedLease,
  policies: listOf(storedPolicy),
  metadata: pairs,
  quotaGib: count,
  tier: oneOf("TransactionOptimized", "Hot", "Cool", "Premium"),
  /** Null if it is still what the share was created with. */
  tierChangedMs: orNull(count),
  /** 0 without any: what was written before it is kept when it changes. */
  newestSnapshot: u64,
};

/** A share as it was. The tree of that time is found by the stamp, which is the snapshot's name. */
const snapshotShape = {
  etag: u64,
  modifiedMs: count,
  lease: storedLease,
  metadata: pairs,
  quotaGib: count,
};

/** Left for the sweeper, which finds by the id in the key what the share held. */
const doomedShareShape = {};

export type Share = Readonly<RecordOf<typeof shareShape>>;
export type ShareSnapshot = Readonly<RecordOf<typeof snapshotShape>>;
export type ShareTier = Share["tier"];
export type Metadata = Share["metadata"];

const shareFormat = format(1, shareShape);
const snapshotFormat = format(1, snapshotShape);
const doomedShareFormat = format(1, doomedShareShape);

export function shareKey(at: Omit<ShareAddress, "snapshot">): Bytes {
  return key(SPACE.share, at.account, at.share);
}

export function readShare(view: View, at: ShareAddress): Share | null {
  // Nothing has such a name, and the store need not take it as a key.
  if (at.share.length > SHARE_NAME_CHARS_MAX) return null;
  const found = view.get(shareKey(at));
  return found === undefined ? null : shareFormat.decode(found);
}

export function writeShare(tx: Transaction, at: ShareAddress, value: Share): void {
  tx.set(shareKey(at), shareFormat.encode(value));
}

/** Its name is free with this; what it holds stays, out of reach, for the sweeper. */
export function deleteShare(tx: Transaction, at: ShareAddress, { id }: Share): void {
  tx.delete(shareKey(at));
  tx.set(key(SPACE.doomedShare, id), doomedShareFormat.encode({}));
}

export function decodeShare(found: Bytes): Share {
  return shareFormat.decode(found);
}

function snapshotKey({ id }: Pick<Share, "id">, stamp: Stamp): Bytes {
  return key(SPACE.shareSnapshot, id, stamp);
}

export function readSnapshot(view: View, share: Share, stamp: Stamp): ShareSnapshot | null {
  const found = view.get(snapshotKey(share, stamp));
  return found === undefined ? null : snapshotFormat.decode(found);
}

export function writeSnapshot(
  tx: Transaction,
  share: Share,
  stamp: Stamp,
  value: ShareSnapshot,
): void {
  tx.set(snapshotKey(share, stamp), snapshotFormat.encode(value));
}

export function nameOfShareKey(found: Bytes): string {
  const parts = new KeyReader(found);
  parts.text();
  return parts.text();
}
