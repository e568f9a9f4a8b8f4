import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { treeOf } from "./admit.ts";
import type { FileContext } from "./context.ts";
import { endHandle } from "./end-handle.ts";
import { decodeHandle, placeOfHandleKey } from "./open-records.ts";
import { decodeShare } from "./records.ts";

const BODY_HANDLES_MAX = 100;
const BODY_SHARES_MAX = 100;

/** A number for this process that no earlier one had. Its handles are marked with it. */
export async function beginEpoch(context: FileContext): Promise<bigint> {
  return context.store.transact((tx) => tx.stamp());
}

/** Whether the process with this epoch runs, according to the records. */
export type Runs = (view: View, epoch: bigint) => boolean;

/**
 * Ends the handles of processes that do not run, except those that clients may reclaim, and deletes
 * the items that are pending deletion. Handles in shares that are being deleted go with their shares.
 */
export async function clearHandles(context: FileContext, runs: Runs): Promise<void> {
  const shares = key(SPACE.share);
  let from = shares;
  for (;;) {
    const start = from;
    const page = await context.store.read((view) => {
      if (!hasHandles(view)) return [];
      return view.range(start, keyAfter(shares), { limit: BODY_SHARES_MAX });
    });
    const last = page.at(-1);
    if (last === undefined) return;
    for (const entry of page) await clearShare(context, runs, entry);
    from = keyAfter(last.key);
  }
}

function hasHandles(view: View): boolean {
  const all = key(SPACE.handle);
  return view.range(all, keyAfter(all), { limit: 1 }).length > 0;
}

async function clearShare(context: FileContext, runs: Runs, share: Entry): Promise<void> {
  let after: Entry["key"] | null = null;
  do {
    const from: Entry["key"] | null = after;
    after = await context.store.transact((tx) => clearPage(context, tx, runs, share.key, from));
  } while (after !== null);
}

/** Returns the last handle of the page; null if there are no more. */
function clearPage(
  { contents }: FileContext,
  tx: Transaction,
  runs: Runs,
  shareAt: Entry["key"],
  after: Entry["key"] | null,
): Entry["key"] | null {
  const found = tx.get(shareAt);
  if (found === undefined) return null;
  const share = decodeShare(found);
  const all = key(SPACE.handle, share.id);
  const from = after === null ? all : keyAfter(after);
  const page = tx.range(from, keyAfter(all), { limit: BODY_HANDLES_MAX });
  for (const entry of page) {
    const handle = decodeHandle(entry.value);
    if (runs(tx, handle.epoch) || handle.persistent !== null) continue;
    const place = placeOfHandleKey(entry.key);
    endHandle(tx, contents, treeOf(share), place, place.handle, handle);
  }
  return page.at(-1)?.key ?? null;
}
