import type { QueueContext } from "../../../service/queue/context.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import type { Contexts } from "../contexts.ts";
import { renderXmlError } from "../render-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import { QUEUE_FIELD_VERSIONS } from "./field-versions.ts";
import { QUEUE_HANDLERS } from "./handlers.ts";
import { type QueueRoute, routeQueue } from "./route.ts";

export class QueueRestService extends StorageRestService<QueueRoute, QueueContext> {
  constructor(
    context: QueueContext | Contexts<QueueContext>,
    accounts: Accounts,
    auth: AuthOptions,
  ) {
    super(PROTOCOL, context, accounts, auth);
  }
}

const PROTOCOL: StorageProtocol<QueueRoute, QueueContext> = {
  name: "queue",
  fields: QUEUE_FIELD_VERSIONS,
  route: ({ method, query }, path) => routeQueue(method, path, query),
  resourceOf: ({ queue }) => ({ service: "queue", container: queue, name: "" }),
  handle: (context, call) => QUEUE_HANDLERS[call.route.operation](context, call),
  renderError: renderXmlError,
};
