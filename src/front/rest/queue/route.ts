import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { Query } from "../http/exchange.ts";

/** The operation and address of a request, from its method, path and query alone. */
export interface QueueRoute {
  readonly operation: QueueOperationName;
  /** Decoded; "" if the operation has none. */
  readonly queue: string;
  readonly messageId: string;
}

/**
 * Every operation of the service, by the path's level, method and `comp` (with `restype` for the
 * account). The names are those of the files that handle them.
 */
export const QUEUE_ROUTES = {
  account: {
    "GET properties service": "getServiceProperties",
    "PUT properties service": "setServiceProperties",
    "GET stats service": "getServiceStats",
    "POST userdelegationkey service": "getUserDelegationKey",
    "GET list": "listQueues",
  },
  queue: {
    PUT: "createQueue",
    DELETE: "deleteQueue",
    "GET metadata": "getQueueMetadata",
    "HEAD metadata": "getQueueMetadata",
    "PUT metadata": "setQueueMetadata",
    "GET acl": "getQueueAcl",
    "HEAD acl": "getQueueAcl",
    "PUT acl": "setQueueAcl",
  },
  messages: {
    POST: "putMessage",
    GET: "getMessages",
    DELETE: "clearMessages",
    "GET lazuli-messages": "listMessages",
    "POST lazuli-messages": "restoreMessages",
  },
  message: {
    PUT: "updateMessage",
    DELETE: "deleteMessage",
  },
} as const;

type Level = keyof typeof QUEUE_ROUTES;
type RoutesOf<L extends Level> = (typeof QUEUE_ROUTES)[L][keyof (typeof QUEUE_ROUTES)[L]];
export type QueueOperationName = { [L in Level]: RoutesOf<L> }[Level] | "peekMessages";

/**
 * `path` is the part after the account: `/`, `/queue`, `/queue/messages` or `/queue/messages/id`.
 */
export function routeQueue(method: string, path: string, query: Query): QueueRoute {
  const { level, queue, messageId } = addressOf(path);
  const operation = operationAt(level, method, query);
  if (operation === "clearMessages") requireNoReceipt(query);
  const isPeek = operation === "getMessages" && query.get("peekonly")?.toLowerCase() === "true";
  return { operation: isPeek ? "peekMessages" : operation, queue, messageId };
}

/**
 * A receipt without a message id shows a mistake: the client does not mean to clear all messages.
 */
function requireNoReceipt(query: Query): void {
  const receipt = query.get("popreceipt");
  if (receipt === undefined) return;
  throw new Fault("InvalidQueryParameterValue", {
    QueryParameterName: "popreceipt",
    QueryParameterValue: receipt,
    Reason: "It belongs to one message: name that behind messages/. Without it, all are cleared.",
  });
}

function operationAt(level: Level, method: string, query: Query): QueueOperationName {
  const routes: Readonly<Record<string, QueueOperationName>> = QUEUE_ROUTES[level];
  const comp = query.get("comp") ?? "";
  const restype = level === "account" ? (query.get("restype")?.toLowerCase() ?? "") : "";
  const what = [comp, restype].filter((word) => word !== "").join(" ");
  const found = routes[what === "" ? method : `${method} ${what}`];
  if (found !== undefined) return found;
  const known = Object.keys(routes).some((route) => route.slice(route.indexOf(" ") + 1) === what);
  if (known || what === "") throw new Fault("UnsupportedHttpVerb", { Method: method });
  throw new Fault("InvalidQueryParameterValue", {
    QueryParameterName: "comp",
    QueryParameterValue: comp,
    Reason: "There is no such operation on what the path names.",
  });
}

function addressOf(path: string): { level: Level; queue: string; messageId: string } {
  const [queue = "", messages = "", messageId = "", ...more] = path
    .replace(/^\//, "")
    .replace(/\/$/, "")
    .split("/")
    .map(decode);
  if (queue === "" && path.length <= 1) return { level: "account", queue, messageId };
  if (messages === "" && messageId === "") return { level: "queue", queue, messageId };
  if (messages !== "messages" || more.length > 0) throw new Fault("InvalidUri");
  const level = messageId === "" ? "messages" : "message";
  // Ids are GUIDs, which have no case.
  return { level, queue, messageId: messageId.toLowerCase() };
}

function decode(encoded: string): string {
  const decoded = percentDecode(encoded);
  if (decoded === null) throw new Fault("InvalidUri");
  return decoded;
}
