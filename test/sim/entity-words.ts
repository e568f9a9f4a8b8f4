/** A write of one entity. It puts its own name there, so that every read tells which it saw. */
export interface EntityWrite {
  readonly kind: "insert" | "update" | "merge" | "replaceAny" | "mergeAny" | "delete";
  readonly row: string;
  readonly name: string;
  /** The property that gets the name, besides `last`. A merge leaves the other one as it is. */
  readonly property: "a" | "b";
  /** An ETag as the server spelled it, or `*`; null where none is sent. */
  readonly ifMatch: string | null;
}

/** An operation on a partition. */
export type EntityAsked =
  | { readonly operation: "write"; readonly write: EntityWrite }
  /** All of them or none. */
  | { readonly operation: "batch"; readonly writes: readonly EntityWrite[] }
  | { readonly operation: "get"; readonly row: string }
  /** The whole partition. */
  | { readonly operation: "query" };

/** What is stored under a key, as a reader sees it. */
export interface Entity {
  readonly etag: string;
  /** The write that it is from. */
  readonly last: string;
  readonly a: string | null;
  readonly b: string | null;
}

export type EntityAnswer =
  /** Status and code: `412 UpdateConditionNotSatisfied`; of a batch, with the index before it. */
  | { readonly refused: string }
  | {
      readonly refused: null;
      /** Of each write; null where it tells none. */
      readonly etags: readonly (string | null)[];
      /** What a read found, by row. */
      readonly found: Readonly<Record<string, Entity>>;
    };
