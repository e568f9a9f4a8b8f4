import type { Stamp } from "../base/stamp.ts";

/**
 * The other processes that use the same records, as far as freeing bytes depends on them. A reader
 * at another process cannot be asked for its pins. Instead, each process reports up to which stamp
 * nobody reads older states of the store any more.
 */
export interface Others {
  /** False for a process that is alone: then its own pins decide everything. */
  readonly areThere: boolean;
  /**
   * Keeps what this body has found from being freed by other processes, until the returned function
   * is called. Call it in the body.
   */
  pin(): () => void;
  /** Whether no process reads a state from before this stamp was given. */
  isUnread(died: Stamp): boolean;
  /** Whether this is the process that frees records which nobody uses any more. */
  readonly isSweeper: boolean;
}

const NOTHING = () => {};

/** For a process that has its records to itself. */
export const NO_OTHERS: Others = {
  areThere: false,
  pin: () => NOTHING,
  isUnread: () => true,
  isSweeper: true,
};
