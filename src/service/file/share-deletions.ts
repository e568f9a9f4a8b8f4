import type { Bytes } from "../../base/bytes.ts";
import { count, format } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import { SHARE_DELETION_MS } from "../../base/limits.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ShareName } from "./records.ts";

/**
 * Names of shares that have just been deleted. The service takes a while to delete a share, and
 * meanwhile answers another delete with success. Here a share is gone at once, so its name is
 * remembered for that long.
 */

const deletionFormat = format(1, { deletedMs: count });

function deletionKey({ account, share }: ShareName): Bytes {
  return key(SPACE.shareDeletion, account, share);
}

export function noteDeletion(tx: Transaction, at: ShareName): void {
  tx.set(deletionKey(at), deletionFormat.encode({ deletedMs: tx.now() }));
}

export function forgetDeletion(tx: Transaction, at: ShareName): void {
  tx.delete(deletionKey(at));
}

export function isBeingDeleted(view: View, at: ShareName): boolean {
  const found = view.get(deletionKey(at));
  return found !== undefined && !isDeletionOver(view, found);
}

export function isDeletionOver(view: View, found: Bytes): boolean {
  return deletionFormat.decode(found).deletedMs + SHARE_DELETION_MS <= view.now();
}
