import { Fault } from "../../base/fault.ts";
import { count, format } from "../../base/fields.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { GIB } from "../../base/limits.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Share } from "./records.ts";

/**
 * Records per share that count usage, so that writes to different files do not all change the same
 * one.
 */
const STRIPES = 16;

const usageFormat = format(1, { bytes: count });

/** The total length of a share's files; snapshots do not count. */
export function usageOf(view: View, { id }: Pick<Share, "id">): number {
  const all = key(SPACE.shareUsage, id);
  const stripes = view.range(all, keyAfter(all), { limit: STRIPES });
  return stripes.reduce((sum, { value }) => sum + usageFormat.decode(value).bytes, 0);
}

/** Adds to the usage, unless that exceeds the quota. */
export function growUsage(tx: Transaction, share: Share, file: bigint, bytes: number): void {
  if (bytes > 0 && usageOf(tx, share) + bytes > share.quotaGib * GIB) {
    throw new Fault("ShareSizeLimitReached", {
      Reason: `The quota of this share is ${share.quotaGib} GiB: raise it with Set Share Properties.`,
    });
  }
  addUsage(tx, share.id, file, bytes);
}

export function addUsage(tx: Transaction, share: bigint, file: bigint, bytes: number): void {
  if (bytes === 0) return;
  const at = key(SPACE.shareUsage, share, file % BigInt(STRIPES));
  const found = tx.get(at);
  const before = found === undefined ? 0 : usageFormat.decode(found).bytes;
  tx.set(at, usageFormat.encode({ bytes: before + bytes }));
}
