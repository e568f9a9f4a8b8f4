/** A message as a client knows it from an answer. */
export interface Handle {
  readonly id: string;
  readonly receipt: string;
}

/**
 * An operation on a queue. Every message has a name, with which its text begins, so that it is
 * recognized whatever happens to it.
 */
export type QueueAsked =
  | {
      readonly operation: "put";
      readonly name: string;
      readonly hiddenS: number;
      /** Null if it never expires. */
      readonly lifeS: number | null;
    }
  | { readonly operation: "get"; readonly max: number; readonly hiddenS: number }
  | { readonly operation: "peek" }
  | {
      readonly operation: "update";
      readonly name: string;
      readonly handle: Handle;
      readonly hiddenS: number;
      readonly text: string;
    }
  | { readonly operation: "delete"; readonly name: string; readonly handle: Handle }
  | { readonly operation: "clear" }
  /** The test advances the clock, so time is an operation like any other. */
  | { readonly operation: "advance"; readonly byMs: number };

/** A message in an answer; null for fields that the operation does not return. */
export interface MessageSeen {
  readonly id: string | null;
  readonly text: string | null;
  readonly receipt: string | null;
  readonly dequeueCount: number | null;
  /** In whole seconds. */
  readonly nextVisibleMs: number | null;
}

export type QueueAnswer =
  /** Status and code: `404 MessageNotFound`. */
  | { readonly refused: string }
  | { readonly refused: null; readonly messages: readonly MessageSeen[] };

/** The most messages that a peek shows: all that are visible, unless there are more. */
export const PEEKED_MAX = 32;

export function nameIn(text: string): string {
  return text.split("/")[0] as string;
}
