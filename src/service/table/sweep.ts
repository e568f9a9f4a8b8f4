import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { SweepRound } from "../shared/sweep-round.ts";
import type { TableContext } from "./context.ts";

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
  const round = new SweepRound(tx);
  round.remove(key(SPACE.entity, new KeyReader(doomed.key).u64()));
  if (!round.isOver) tx.delete(doomed.key);
}

function firstDoomed(view: View): Entry | undefined {
  return view.range(ALL_DOOMED, keyAfter(ALL_DOOMED), { limit: 1 })[0];
}
