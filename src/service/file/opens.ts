import { refuse } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { NEEDS_HANDLES } from "../../rules/caching.ts";
import { judgeReadByLocks, judgeWriteByLocks } from "../../rules/range-lock.ts";
import {
  judgeDirectoryDelete,
  judgeMomentaryOpen,
  type MomentaryOpen,
  type Open,
  REST_OPENS,
  WRITE,
} from "../../rules/share-mode.ts";
import type { View } from "../../store/store.ts";
import { NO_OWNER } from "./cache-owner.ts";
import { requireCachesBroken } from "./caches.ts";
import { type Opens, pendingKey, readLocks, readOpens } from "./open-records.ts";
import type { Tree } from "./preserved-records.ts";

export type RestOpen = keyof typeof REST_OPENS;

/** The bytes that an operation reads or writes. */
export interface Touched {
  readonly from: number;
  readonly length: number;
}

export const ALL_BYTES: Touched = { from: 0, length: Number.MAX_SAFE_INTEGER };

/** Checks a REST operation on a file against its open handles. Costs one read if there are none. */
export function requireCompatibleOpens(
  view: View,
  tree: Tree,
  id: bigint,
  operation: RestOpen,
  touched: Touched | null = null,
): void {
  // Snapshots have no handles.
  if (tree.snapshot !== null) return;
  const item = { share: tree.share, id };
  const opens = readOpens(view, item);
  if (opens === null) return;
  const wanted: MomentaryOpen = REST_OPENS[operation];
  const refusal = judgeMomentaryOpen(opens.modes, wanted, opens.isDeletePending);
  if (refusal === "SharingViolation")
    requireCachesBroken(view, item, opens, NO_OWNER, NEEDS_HANDLES);
  refuse(refusal);
  if (wanted.intrusion !== null) requireCachesBroken(view, item, opens, NO_OWNER, wanted.intrusion);
  if (touched === null || opens.locks === 0) return;
  const locks = readLocks(view, item, opens.locks);
  const judgeByLocks = (wanted.access & WRITE) === 0 ? judgeReadByLocks : judgeWriteByLocks;
  refuse(judgeByLocks(locks, null, touched.from, touched.length));
}

/** Checks that a directory is not pending deletion. */
export function requireNotPending(view: View, tree: Tree, id: bigint): void {
  if (tree.snapshot !== null) return;
  const opens = readOpens(view, { share: tree.share, id });
  refuse(judgeDirectoryDelete(0, opens?.isDeletePending ?? false));
}

/** Checks that no client has the directory open. */
export function requireNotOpen(view: View, tree: Tree, id: bigint): void {
  const opens = readOpens(view, { share: tree.share, id });
  refuse(judgeDirectoryDelete(handlesOf(opens), opens?.isDeletePending ?? false));
}

/** Returns a test for the items that lists leave out. Costs one read if there are none. */
export function pendingIn(view: View, tree: Tree, directory: bigint): (id: bigint) => boolean {
  const all = key(SPACE.deletePending, tree.share, directory);
  const hasNone = view.range(all, keyAfter(all), { limit: 1 }).length === 0;
  if (tree.snapshot !== null || hasNone) return () => false;
  return (id) => view.get(pendingKey(tree.share, directory, id)) !== undefined;
}

export function handlesOf(opens: Opens | null): number {
  return opens?.modes.reduce((sum, { handles }) => sum + handles, 0) ?? 0;
}

/** The summary of opens with one more. */
export function withOpen(opens: Opens | null, { access, share }: Open, caches: number): Opens {
  const others = opens?.modes.filter((mode) => mode.access !== access || mode.share !== share);
  const same = opens?.modes.find((mode) => mode.access === access && mode.share === share);
  return {
    modes: [...(others ?? []), { access, share, handles: (same?.handles ?? 0) + 1 }],
    locks: opens?.locks ?? 0,
    isDeletePending: opens?.isDeletePending ?? false,
    caches,
  };
}

/** The summary without this open, its locks and its cache; null if it was the last. */
export function withoutOpen(
  opens: Opens,
  { access, share }: Open,
  locks: number,
  caches: number,
): Opens | null {
  const modes = opens.modes.flatMap((mode) => {
    if (mode.access !== access || mode.share !== share) return [mode];
    return mode.handles > 1 ? [{ access, share, handles: mode.handles - 1 }] : [];
  });
  if (modes.length === 0) return null;
  const { isDeletePending } = opens;
  return { modes, locks: opens.locks - locks, isDeletePending, caches: opens.caches - caches };
}
