import type { ServiceAsked } from "../../../service/account/context.ts";
import type { QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import type { StorageCall } from "../storage-rest-service.ts";

/** One call of a Queue operation. */
export interface QueueCall extends StorageCall {
  /** Decoded; "" where the operation has none. */
  readonly queue: string;
  readonly messageId: string;
}

export type QueueHandler = (context: QueueContext, call: QueueCall) => Promise<RestResponse>;

export function serviceAskedOf({ account, access }: QueueCall): ServiceAsked {
  return { at: { account, service: "queue" }, access };
}
