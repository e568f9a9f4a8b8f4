import { Fault } from "../../base/fault.ts";
import { NEEDS_HANDLES } from "../../rules/caching.ts";
import { DELETE } from "../../rules/share-mode.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { requireCachesBroken } from "./caches.ts";
import type { FileContext } from "./context.ts";
import { markPending, readItem, requireMarkable } from "./end-handle.ts";
import { pendingKey, writeOpens } from "./open-records.ts";

export interface SetDeletePending extends HandleAsked {
  /** False takes the mark back. */
  readonly isPending: boolean;
}

/** Marks an item for deletion with its last handle. The caller's handle needs delete access. */
export async function setDeletePending(
  context: FileContext,
  asked: SetDeletePending,
): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, item, handle, opens } = admitToHandle(tx, asked);
    if ((handle.access & DELETE) === 0) throw new Fault("AuthorizationPermissionMismatch");
    if (asked.isPending === opens.isDeletePending) return;
    if (asked.isPending) {
      requireCachesBroken(tx, item, opens, handle.cache, NEEDS_HANDLES);
      requireMarkable(tx, tree, readItem(tx, tree, item, handle), handle.isDirectory);
      markPending(tx, tree, item, handle, opens);
    } else {
      const { modes, locks, caches } = opens;
      writeOpens(tx, item, { modes, locks, isDeletePending: false, caches });
      tx.delete(pendingKey(item.share, readItem(tx, tree, item, handle).parent, item.id));
    }
  });
}
