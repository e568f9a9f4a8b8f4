import type { FaultCode } from "../base/fault.ts";
import type { EntityPlace } from "./entity-plan.ts";

/** Whether the write at `at` may stand in one batch with those before it. */
export function refuseBatch(
  writes: readonly { readonly place: EntityPlace }[],
  at: number,
): FaultCode | null {
  const { partition, row } = (writes[at] as { place: EntityPlace }).place;
  if (writes[0]?.place.partition !== partition) return "CommandsInBatchActOnDifferentPartitions";
  const before = writes.slice(0, at);
  return before.some(({ place }) => place.row === row) ? "InvalidDuplicateRow" : null;
}
