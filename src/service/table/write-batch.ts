import { fairQueue, PacedBytes } from "../../base/fair-queue.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { BATCH_OPERATIONS_MAX } from "../../base/limits.ts";
import { judgeInBatch } from "../../rules/entity-batch.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToTable } from "./admit.ts";
import {
  applyWrite,
  type EntityWrite,
  type EntityWritten,
  type PreparedWrite,
  prepareWrite,
} from "./apply-write.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";

/** Several writes to entities of one partition: all of them happen, or none. */
export interface WriteBatch extends EntitiesAsked {
  readonly writes: readonly EntityWrite[];
}

export type WriteBatchDone =
  | { readonly kind: "written"; readonly results: readonly EntityWritten[] }
  /** This write was refused, so nothing was written. */
  | { readonly kind: "refused"; readonly index: number; readonly fault: Fault };

export async function writeBatch(
  context: TableContext,
  asked: WriteBatch,
): Promise<WriteBatchDone> {
  const [first] = asked.writes;
  if (first === undefined || asked.writes.length > BATCH_OPERATIONS_MAX) {
    throw new Fault("InvalidInput");
  }
  const prepared = await prepareWrites(asked.writes);
  let index = 0;
  await fairQueue.next();
  try {
    const results = await context.store.transact((tx) => {
      index = 0;
      const table = admitToTable(tx, asked, TABLE_NEEDS[first.kind]);
      const rows = new Set<string>();
      return prepared.map((one, at) => {
        index = at;
        const { place } = one.write;
        refuse(judgeInBatch(place, first.place, rows));
        rows.add(place.row);
        return applyWrite(tx, asked, table, one);
      });
    });
    return { kind: "written", results };
  } catch (error) {
    if (error instanceof Fault) return { kind: "refused", index, fault: error };
    throw error;
  }
}

/** Prepares the writes in slices: together they may be 4 MiB. */
async function prepareWrites(writes: readonly EntityWrite[]): Promise<PreparedWrite[]> {
  const all: PreparedWrite[] = [];
  const paced = new PacedBytes();
  for (const write of writes) {
    const prepared = prepareWrite(write);
    all.push(prepared);
    const wait = paced.next(prepared.properties.bytes.length);
    if (wait !== undefined) await wait;
  }
  return all;
}
