/** What happens to objects that the target has already. */
export const EXISTING = ["fail", "skip", "overwrite"] as const;

export type Existing = (typeof EXISTING)[number];

/** What a part of a sink needs to know about the container, queue, table or share it writes to. */
export interface Target {
  /** Whether this run has created it: then nothing in it can be there already. */
  readonly isNew: boolean;
  readonly existing: Existing;
}
