import { EPHEMERAL_SPACES, type Space } from "../../base/keys.ts";
import type { State, Write } from "../body-view.ts";
import { bytesOfRecord } from "./wal-groups.ts";

/**
 * How many bytes of lasting records a state has more once these are written to it; below 0 if it has
 * less. What a delete or a lease comes to is found out by this, whoever asks for it.
 */
export function growthOf(writes: readonly Write[], state: State): number {
  let growth = 0;
  for (const { name, key, value, isAppend } of writes) {
    if (EPHEMERAL_SPACES.has(key[0] as Space)) continue;
    if (value !== null) growth += isAppend ? value.length : bytesOfRecord(key, value);
    const before = isAppend ? undefined : state.get(key, name);
    if (before !== undefined) growth -= bytesOfRecord(key, before);
  }
  return growth;
}
