import type { Bytes } from "../../base/bytes.ts";
import type { Access } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** What every operation of the Queue service works with. */
export interface QueueContext {
  readonly store: Store;
}

export interface QueueAddress {
  readonly account: string;
  readonly queue: string;
}

/** Common to whatever is asked of a queue. */
export interface QueueAsked {
  readonly at: QueueAddress;
  readonly access: Access;
}

/** Common to what only the holder of a message may ask. */
export interface MessageAsked extends QueueAsked {
  readonly messageId: string;
  /** What the client shows; it may be anything. */
  readonly receipt: Bytes;
}
