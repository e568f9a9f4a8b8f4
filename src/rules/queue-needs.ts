import type { Need } from "./access.ts";
import { SERVICE_NEEDS, USER_DELEGATION_KEY_NEED } from "./service-needs.ts";

/**
 * The permissions that each Queue operation needs of a SAS or a role; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const QUEUE_NEEDS = {
  ...SERVICE_NEEDS,
  listQueues: { ...queue("l", "read"), on: "s" },
  getUserDelegationKey: USER_DELEGATION_KEY_NEED,

  createQueue: queue("cw", "write"),
  deleteQueue: queue("d", "delete"),
  getQueueMetadata: { ...queue("r", "read"), service: "r" },
  setQueueMetadata: queue("w", "write"),
  getQueueAcl: queue("", "getAcl/action"),
  setQueueAcl: queue("", "setAcl/action"),

  putMessage: message("a", "add/action", "write"),
  getMessages: message("p", "process/action"),
  peekMessages: message("r", "read"),
  updateMessage: message("u", "write"),
  deleteMessage: message("p", "process/action", "delete"),
  clearMessages: { ...message("d", "delete"), service: "" },
  /** What imports and exports do that no client of the service does: the account's key only. */
  listMessages: message(""),
  restoreMessages: message(""),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a queue as a whole. */
function queue(letters: string, action: string): Need {
  const actions = [`queues/${action}`];
  return { on: "c", account: letters, service: "", anonymous: "never", actions };
}

function message(letters: string, ...verbs: string[]): Need {
  const actions = verbs.map((verb) => `queues/messages/${verb}`);
  return { on: "o", account: letters, service: letters, anonymous: "never", actions };
}
