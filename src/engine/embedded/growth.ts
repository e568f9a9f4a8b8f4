import type { Space } from "../../base/keys.ts";
import { unlessDamaged } from "../../store/store.ts";
import type { State, Write } from "../body-view.ts";
import { bytesOfRecord } from "./wal-groups.ts";

/**
 * How many bytes these writes add to the durable records of a state; negative if they free some. On
 * a full disk this separates deletes and leases, which are admitted, from writes that need space.
 */
export function growthOf(
  writes: readonly Write[],
  state: State,
  ephemeral: ReadonlySet<Space>,
): number {
  let growth = 0;
  for (const { name, key, value, isAppend } of writes) {
    if (ephemeral.has(key[0] as Space)) continue;
    if (value !== null) growth += isAppend ? value.length : bytesOfRecord(key, value);
    const before = isAppend ? undefined : unlessDamaged(() => state.get(key, name));
    if (before) growth -= bytesOfRecord(key, before);
  }
  return growth;
}
