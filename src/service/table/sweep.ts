import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Entry, Transaction, View } from "../../store/store.ts";
import type { TableContext } from "./context.ts";

const ROUND_RECORDS_MAX = 256;
const ALL_DOOMED = key(SPACE.doomedTable);

/** Removes the entities of deleted tables. */
export class TableSweep {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  /**
   * Runs one round, which writes a bounded number of records. True while there may be more to do.
   */
  async sweep(): Promise<boolean> {
    const { store } = this.#context;
    if ((await store.read((view) => firstDoomed(view) !== undefined)) === false) return false;
    await store.transact(removeEntities);
    return true;
  }
}

function removeEntities(tx: Transaction): void {
  const doomed = firstDoomed(tx);
  if (doomed === undefined) return;
  const all = key(SPACE.entity, new KeyReader(doomed.key).u64());
  const entries = tx.range(all, keyAfter(all), { limit: ROUND_RECORDS_MAX });
  for (const entry of entries) tx.delete(entry.key);
  if (entries.length < ROUND_RECORDS_MAX) tx.delete(doomed.key);
}

function firstDoomed(view: View): Entry | undefined {
  return view.range(ALL_DOOMED, keyAfter(ALL_DOOMED), { limit: 1 })[0];
}
