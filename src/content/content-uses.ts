import type { Bytes } from "../base/bytes.ts";
import { count, format } from "../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { NeededRange } from "../store/acceleration.ts";
import type { Address, EndOfUse } from "../store/extents.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { laterEnd, NOTHING_COPIED, readOrigins } from "./extent-origins.ts";

/**
 * A record that a content has bytes in an extent. Bytes without a use record are dead, so an upload
 * that no content was made of needs no clean-up record. The key names content and extent, not the
 * offset: replacing a content within one extent overwrites its use.
 */
export interface Use {
  readonly extent: number;
  readonly content: bigint;
  /** The space that all its bytes take in the extent. */
  readonly bytesOnDisk: number;
  /** The offset at which the last of them end. */
  readonly end: number;
}

const useFormat = format(2, { bytesOnDisk: count, end: count });

/** The key of the record that a content has bytes in an extent. */
export function keyOfUse(extent: number, content: bigint): Bytes {
  return key(SPACE.extentUse, extent, content);
}

/** Decodes the extent from the key of such a record. */
export function extentOfUse(use: Bytes): number {
  return new KeyReader(use).number();
}

/** Records where a content's bytes lie. `addresses` are all that it has. */
export function writeUses(tx: Transaction, content: bigint, addresses: readonly Address[]): void {
  for (const use of usesOf(content, addresses)) {
    tx.set(keyOfUse(use.extent, content), useFormat.encode(use));
  }
}

export function deleteUses(tx: Transaction, content: bigint, addresses: readonly Address[]): void {
  for (const { extent } of addresses) tx.delete(keyOfUse(extent, content));
}

export function isUsedBy(view: View, extent: number, content: bigint): boolean {
  return view.get(keyOfUse(extent, content)) !== undefined;
}

/** The uses of an extent, by content id, beginning with `from`. */
export function listUses(view: View, extent: number, from: bigint, limit: number): Use[] {
  const { from: first, until, options } = usesOfExtent(extent, from, limit);
  return view.range(first, until, options).map((entry) => {
    const at = new KeyReader(entry.key);
    return { extent: at.number(), content: at.u64(), ...useFormat.decode(entry.value) };
  });
}

/** Whether any content has bytes in an extent. */
export function hasUses(view: View): boolean {
  const prefix = key(SPACE.extentUse);
  return view.range(prefix, keyAfter(prefix), { limit: 1 }).length > 0;
}

/** The records that `listUses` reads. */
export function usesOfExtent(extent: number, from: bigint, limit: number): NeededRange {
  const until = keyAfter(key(SPACE.extentUse, extent));
  return { from: keyOfUse(extent, from), until, options: { limit } };
}

/** Reads bytes in use from a use record, so that a scan can sum them up. */
export function bytesInUse(record: Bytes): number {
  return useFormat.decode(record).bytesOnDisk;
}

/**
 * Finds where an engine may continue to write when it starts on the files of an earlier run: behind
 * all bytes in use, and behind those that a backup has copied, because the next backup recognizes
 * bytes by their place.
 */
export function findEndOfUse(store: Store): Promise<EndOfUse | null> {
  return store.read((view) => {
    const used = lastUse(view);
    const copied = readOrigins(view).reduce(laterEnd, NOTHING_COPIED);
    const end = laterEnd(used ?? copied, copied);
    return end.extent === 0 ? null : end;
  });
}

function lastUse(view: View): EndOfUse | null {
  const prefix = key(SPACE.extentUse);
  const [last] = view.range(prefix, keyAfter(prefix), { limit: 1, reverse: true });
  if (last === undefined) return null;
  const extent = new KeyReader(last.key).number();
  let offset = 0;
  for (const { end } of listUses(view, extent, 0n, Number.POSITIVE_INFINITY)) {
    offset = Math.max(offset, end);
  }
  return { extent, offset };
}

function usesOf(content: bigint, addresses: readonly Address[]): Use[] {
  const uses: Use[] = [];
  for (const { extent, offset, bytesOnDisk } of addresses) {
    const at = uses.findIndex((use) => use.extent === extent);
    const before = uses[at] ?? { bytesOnDisk: 0, end: 0 };
    uses[at < 0 ? uses.length : at] = {
      extent,
      content,
      bytesOnDisk: before.bytesOnDisk + bytesOnDisk,
      end: Math.max(before.end, offset + bytesOnDisk),
    };
  }
  return uses;
}
