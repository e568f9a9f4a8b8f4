/** A write of one entity. It stores its own name, so that every read shows which write it saw. */
export interface EntityWrite {
  readonly kind: "insert" | "update" | "merge" | "replaceAny" | "mergeAny" | "delete";
  readonly row: string;
  readonly name: string;
  /** The property that gets the name, besides `last`. A merge leaves the other one unchanged. */
  readonly property: "a" | "b";
  /** An ETag as the server wrote it, or `*`; null if none is sent. */
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

/** An entity as a reader sees it. */
export interface Entity {
  readonly etag: string;
  /** The write that it comes from. */
  readonly last: string;
  readonly a: string | null;
  readonly b: string | null;
}

export type EntityAnswer =
  /** Status and code: `412 UpdateConditionNotSatisfied`; of a batch, with the index before it. */
  | { readonly refused: string }
  | {
      readonly refused: null;
      /** Of each write; null if the answer has none. */
      readonly etags: readonly (string | null)[];
      /** The entities that a read found, by row. */
      readonly found: Readonly<Record<string, Entity>>;
    };
