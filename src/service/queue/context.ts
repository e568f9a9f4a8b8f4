import type { Bytes } from "../../base/bytes.ts";
import type { Access } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** The context of every operation of the Queue service. */
export interface QueueContext {
  readonly store: Store;
}

export interface QueueAddress {
  readonly account: string;
  readonly queue: string;
}

/** Common to every request to a queue. */
export interface QueueAsked {
  readonly at: QueueAddress;
  readonly access: Access;
}

/** Common to the requests that need a message's pop receipt. */
export interface MessageAsked extends QueueAsked {
  readonly messageId: string;
  /** The receipt that the client sent; it may be any bytes. */
  readonly receipt: Bytes;
}
