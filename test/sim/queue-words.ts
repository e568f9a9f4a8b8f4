/** A message as a client knows it, once it was told. */
export interface Handle {
  readonly id: string;
  readonly receipt: string;
}

/**
 * An operation on a queue. Every message has a name, with which its text begins, so that it is known
 * whatever becomes of it.
 */
export type QueueAsked =
  | {
      readonly operation: "put";
      readonly name: string;
      readonly hiddenS: number;
      /** Null for ever. */
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
  /** The clock is turned by the test, which makes time an operation like any other. */
  | { readonly operation: "turn"; readonly byMs: number };

/** What is told of a message. Null is what an operation does not tell. */
export interface Told {
  readonly id: string | null;
  readonly text: string | null;
  readonly receipt: string | null;
  readonly dequeueCount: number | null;
  /** In whole seconds. */
  readonly nextVisibleMs: number | null;
}

export type QueueAnswer =
  /** Status and code: `404 MessageNotFound`. */
  { readonly refused: string } | { readonly refused: null; readonly messages: readonly Told[] };

/** As many as a peek can show: it shows all that is visible unless there are more. */
export const PEEKED_MAX = 32;

export function nameIn(text: string): string {
  return text.split("/")[0] as string;
}
