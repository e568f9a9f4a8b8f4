import type { Access, KeyRange } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** The context of every operation of the Table service. */
export interface TableContext {
  readonly store: Store;
}

export interface TableAddress {
  readonly account: string;
  /** In any case: table names are compared without case. */
  readonly table: string;
}

/** Common to every request to a table. */
export interface TableAsked {
  readonly at: TableAddress;
  readonly access: Access;
}

/** Common to every request to the entities of a table. */
export interface EntitiesAsked extends TableAsked {
  /** The keys that a SAS permits; null for no limit. */
  readonly keyRange: KeyRange | null;
}
