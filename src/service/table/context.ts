import type { Access, KeyRange } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** What every operation of the Table service works with. */
export interface TableContext {
  readonly store: Store;
}

export interface TableAddress {
  readonly account: string;
  /** In any case: tables do not tell cases apart. */
  readonly table: string;
}

/** Common to whatever is asked of a table. */
export interface TableAsked {
  readonly at: TableAddress;
  readonly access: Access;
}

/** Common to whatever is asked of the entities in a table. */
export interface EntitiesAsked extends TableAsked {
  /** What a SAS opens of the table; null if nothing limits it. */
  readonly keyRange: KeyRange | null;
}
