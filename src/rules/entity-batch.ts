import type { FaultCode } from "../base/fault.ts";
import type { EntityPlace } from "./entity-plan.ts";

/** Whether a write may follow the writes before it in one batch, by their first place and rows. */
export function judgeInBatch(
  { partition, row }: EntityPlace,
  first: EntityPlace,
  rowsBefore: ReadonlySet<string>,
): FaultCode | null {
  if (partition !== first.partition) return "CommandsInBatchActOnDifferentPartitions";
  return rowsBefore.has(row) ? "InvalidDuplicateRow" : null;
}
