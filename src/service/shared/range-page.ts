import { BODY_BYTES_MAX } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";

export interface RangePage {
  readonly entries: readonly Entry[];
  /** Whether more entries follow the last one. */
  readonly hasMore: boolean;
}

/**
 * Reads entries with `from <= key < until`: as many as one body should decode, at most `room`.
 * Skips damaged entries.
 */
export function readRangePage(view: View, from: Bytes, until: Bytes, room: number): RangePage {
  if (from.compare(until) >= 0) return { entries: [], hasMore: false };
  const options = { limit: room + 1, bytesMax: BODY_BYTES_MAX, skipsDamaged: true };
  const entries = view.range(from, until, options);
  let bytes = 0;
  for (const { key, value } of entries) bytes += key.length + value.length;
  const hasMore = entries.length > room || bytes >= BODY_BYTES_MAX;
  // The extra entry only shows that there is more.
  return { entries: hasMore ? entries.slice(0, -1) : entries, hasMore };
}
