import { BodyBudget } from "../../base/body-budget.ts";
import { fairQueue, PacedBytes } from "../../base/fair-queue.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { BATCH_MERGED_BYTES_MAX, BATCH_OPERATIONS_MAX, MIB } from "../../base/limits.ts";
import { judgeInBatch } from "../../rules/entity-batch.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { prefetch } from "../../store/accelerated.ts";
import { admitToTable } from "./admit.ts";
import {
  applyWrite,
  type EntityWrite,
  type EntityWritten,
  isMerge,
  LongMerges,
  merge,
  type PreparedWrite,
  prepareWrite,
} from "./apply-write.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { entityNeeds, readEntityRecord, readTable } from "./records.ts";

/** Several writes to entities of one partition: all of them happen, or none. */
export interface WriteBatch extends EntitiesAsked {
  readonly writes: readonly EntityWrite[];
}

export type WriteBatchDone =
  | { readonly kind: "written"; readonly results: readonly EntityWritten[] }
  /** This write was refused, so nothing was written. */
  | { readonly kind: "refused"; readonly index: number; readonly fault: Fault };

/** The bytes of entities that one body merges into. More are merged beforehand. */
const BODY_MERGED_BYTES_MAX = MIB;
/** How often long merges are worked out again because their entities have changed meanwhile. */
const TRIES_MAX = 3;

export async function writeBatch(
  context: TableContext,
  asked: WriteBatch,
): Promise<WriteBatchDone> {
  const [first] = asked.writes;
  if (first === undefined || asked.writes.length > BATCH_OPERATIONS_MAX) {
    throw new Fault("InvalidInput");
  }
  let prepared = await prepareWrites(asked.writes);
  for (let tries = 0; tries <= TRIES_MAX; tries++) {
    if (tries > 0) prepared = await mergeAhead(context, asked, prepared);
    await fairQueue.next();
    const done = await writeAtOnce(context, asked, first, prepared);
    if (done !== null) return done;
  }
  throw new Fault("ServerBusy");
}

/** Null if merges must be worked out first, because they would hold up all other requests. */
async function writeAtOnce(
  context: TableContext,
  asked: WriteBatch,
  first: EntityWrite,
  prepared: readonly PreparedWrite[],
): Promise<WriteBatchDone | null> {
  let index = 0;
  try {
    const results = await context.store.transact((tx) => {
      index = 0;
      const table = admitToTable(tx, asked, TABLE_NEEDS[first.kind]);
      const rows = new Set<string>();
      const budget = new BodyBudget(BODY_MERGED_BYTES_MAX);
      prefetch(tx, () =>
        entityNeeds(
          table,
          asked.writes.map(({ place }) => place),
        ),
      );
      return prepared.map((one, at) => {
        index = at;
        const { place } = one.write;
        refuse(judgeInBatch(place, first.place, rows));
        rows.add(place.row);
        return applyWrite(tx, asked, table, one, budget);
      });
    });
    return { kind: "written", results };
  } catch (error) {
    if (error instanceof LongMerges) return null;
    if (error instanceof Fault) return { kind: "refused", index, fault: error };
    throw error;
  }
}

/**
 * Works out merges before the transaction, which then only checks that their entities have not
 * changed. Stops with a verdict where they are too large together.
 */
async function mergeAhead(
  context: TableContext,
  asked: WriteBatch,
  prepared: readonly PreparedWrite[],
): Promise<PreparedWrite[]> {
  const all = [...prepared];
  let bytes = 0;
  for (const [at, one] of prepared.entries()) {
    const { write } = one;
    if (!isMerge(write) || one.verdict !== null) continue;
    await fairQueue.next();
    const old = await context.store.read((view) => {
      const table = readTable(view, asked.at);
      return table === null ? null : readEntityRecord(view, table, write.place);
    });
    if (old === null) continue;
    const merged = merge(write, old);
    bytes += merged.bytes.length;
    const isTooMuch = bytes > BATCH_MERGED_BYTES_MAX;
    all[at] = {
      ...one,
      merged: isTooMuch ? { ...merged, verdict: "RequestBodyTooLarge" } : merged,
    };
    if (isTooMuch) break;
  }
  return all;
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
