import { KIB } from "../../base/limits.ts";
import type { CopiedRecord } from "../../content/state-copy.ts";
import type { Store } from "../../store/store.ts";

/** Records in one transaction. */
const RECORDS_PER_STEP = 2_000;
const BYTES_PER_STEP = 512 * KIB;

/** What was restored and verified, and where. */
export interface Restored {
  readonly location: string;
  readonly records: number;
  readonly bytes: number;
}

/** Writes records, or deletes them, in one transaction. */
export async function write(store: Store, records: readonly CopiedRecord[]): Promise<void> {
  await store.transact((tx) => {
    for (const { key, value } of records) {
      if (value === null) tx.delete(key);
      else tx.set(key, value);
    }
  });
}

/** Records in portions for one transaction each. */
export function* stepsOf(records: Iterable<CopiedRecord>): Generator<CopiedRecord[]> {
  let step: CopiedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    step.push(record);
    bytes += bytesOf([record]);
    if (step.length < RECORDS_PER_STEP && bytes < BYTES_PER_STEP) continue;
    yield step;
    step = [];
    bytes = 0;
  }
  if (step.length > 0) yield step;
}

export function bytesOf(records: readonly CopiedRecord[]): number {
  return records.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
}
