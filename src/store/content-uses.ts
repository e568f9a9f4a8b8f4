import { count, format, u64 } from "../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { Address, EndOfUse } from "./extents.ts";
import type { Store, Transaction, View } from "./store.ts";

/**
 * Which bytes of an extent are alive: those that a use record covers, and no others. So an upload
 * that was never named is dead without anybody having to say so.
 */
export interface Use {
  readonly extent: number;
  readonly offset: number;
  readonly content: bigint;
  readonly bytesOnDisk: number;
}

const useFormat = format(1, { content: u64, bytesOnDisk: count });

const useKey = (extent: number, offset: number) => key(SPACE.extentUse, extent, offset);

export function writeUse(tx: Transaction, at: Address, content: bigint): void {
  const { extent, offset, bytesOnDisk } = at;
  tx.set(useKey(extent, offset), useFormat.encode({ content, bytesOnDisk }));
}

export function deleteUse(tx: Transaction, at: Address): void {
  tx.delete(useKey(at.extent, at.offset));
}

/** The content that these bytes belong to. */
export function userOf(view: View, at: Address): bigint | null {
  const record = view.get(useKey(at.extent, at.offset));
  return record === undefined ? null : useFormat.decode(record).content;
}

/** What is alive in an extent, from an offset on. */
export function listUses(view: View, extent: number, from: number, limit: number): Use[] {
  const until = keyAfter(key(SPACE.extentUse, extent));
  return view.range(useKey(extent, from), until, { limit }).map((entry) => {
    const at = new KeyReader(entry.key);
    return { extent: at.number(), offset: at.number(), ...useFormat.decode(entry.value) };
  });
}

/** Where an engine may go on writing when it starts on the files of an earlier run. */
export function findEndOfUse(store: Store): Promise<EndOfUse | null> {
  return store.read((view) => {
    const prefix = key(SPACE.extentUse);
    const [last] = view.range(prefix, keyAfter(prefix), { limit: 1, reverse: true });
    if (last === undefined) return null;
    const at = new KeyReader(last.key);
    const extent = at.number();
    return { extent, offset: at.number() + useFormat.decode(last.value).bytesOnDisk };
  });
}
