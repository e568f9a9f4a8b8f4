import type { ServiceAsked } from "../../../service/account/context.ts";
import type { QueueAddress, QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { QueueRoute } from "./route.ts";

/** One call of a Queue operation. */
export type QueueCall = StorageCall<QueueRoute>;

export type QueueHandler = (context: QueueContext, call: QueueCall) => Promise<RestResponse>;

export function addressOf({ account, route }: QueueCall): QueueAddress {
  return { account, queue: route.queue };
}

export function serviceAskedOf({ account, access }: QueueCall): ServiceAsked {
  return { at: { account, service: "queue" }, access };
}
