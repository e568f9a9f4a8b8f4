import { format } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import type { Runs } from "./clear-handles.ts";

/** Records of the front ends that want to hear of changes in a share. */

const watchFormat = format(1, {});
const BODY_RECORDS_MAX = 1_000;

export function writeWatch(tx: Transaction, share: bigint, epoch: bigint): void {
  tx.set(key(SPACE.watchedShare, share, epoch), watchFormat.encode({}));
}

export function deleteWatch(tx: Transaction, share: bigint, epoch: bigint): void {
  tx.delete(key(SPACE.watchedShare, share, epoch));
}

/** The epochs of the front ends that watch a share. */
export function watchesOf(view: View, share: bigint): bigint[] {
  const all = key(SPACE.watchedShare, share);
  return view.range(all, keyAfter(all), { limit: BODY_RECORDS_MAX }).map((entry) => {
    const parts = new KeyReader(entry.key);
    parts.u64();
    return parts.u64();
  });
}

/** Ends the watches of front ends that do not run. */
export async function clearWatches(store: Store, runs: Runs): Promise<void> {
  const all = key(SPACE.watchedShare);
  for (let from = all; ; ) {
    const start = from;
    const last = await store.transact((tx) => {
      const page = tx.range(start, keyAfter(all), { limit: BODY_RECORDS_MAX });
      for (const entry of page) {
        const parts = new KeyReader(entry.key);
        parts.u64();
        if (!runs(tx, parts.u64())) tx.delete(entry.key);
      }
      return page.at(-1);
    });
    if (last === undefined) return;
    from = keyAfter(last.key);
  }
}
