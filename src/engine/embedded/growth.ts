import type { Space } from "../../base/keys.ts";
import type { State, Write } from "../body-view.ts";
import { bytesOfRecord } from "./wal-groups.ts";

/**
 * By how many bytes these writes make the lasting records of a state grow; below 0 if they shrink.
 * On a full disk it tells deletes and leases, which are admitted, from writes that need more room.
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
    const before = isAppend ? undefined : state.get(key, name);
    if (before !== undefined) growth -= bytesOfRecord(key, before);
  }
  return growth;
}
