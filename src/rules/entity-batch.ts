import type { FaultCode } from "../base/fault.ts";
import type { EntityPlace } from "./entity-plan.ts";

/** Whether a write may stand in one batch with those before it, of which it is told the rows. */
export function judgeInBatch(
  { partition, row }: EntityPlace,
  first: EntityPlace,
  rowsBefore: ReadonlySet<string>,
): FaultCode | null {
  if (partition !== first.partition) return "CommandsInBatchActOnDifferentPartitions";
  return rowsBefore.has(row) ? "InvalidDuplicateRow" : null;
}
