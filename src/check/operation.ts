/** A request of a client, and its answer. */
export interface Operation<Asked, Answer> {
  readonly client: number;
  /** The object that it concerns; null for all of them. */
  readonly key: string | null;
  readonly asked: Asked;
  /** Null if none came. */
  readonly answer: Answer | null;
  readonly invoked: number;
  /** Infinity if it may have happened at any time since it was invoked, or never. */
  readonly returned: number;
}
