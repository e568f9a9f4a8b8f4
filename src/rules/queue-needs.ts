import type { Need } from "./access.ts";
import { SERVICE_NEEDS } from "./service-needs.ts";

/**
 * The permissions that each Queue operation needs of a SAS; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const QUEUE_NEEDS = {
  ...SERVICE_NEEDS,
  listQueues: { on: "s", account: "l", service: "", anonymous: "never" },
  getUserDelegationKey: { on: "s", account: "", service: "", anonymous: "never" },

  createQueue: queue("cw"),
  deleteQueue: queue("d"),
  getQueueMetadata: { on: "c", account: "r", service: "r", anonymous: "never" },
  setQueueMetadata: queue("w"),
  getQueueAcl: queue(""),
  setQueueAcl: queue(""),

  putMessage: message("a"),
  getMessages: message("p"),
  peekMessages: message("r"),
  updateMessage: message("u"),
  deleteMessage: message("p"),
  clearMessages: { on: "o", account: "d", service: "", anonymous: "never" },
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a queue as a whole. */
function queue(letters: string): Need {
  return { on: "c", account: letters, service: "", anonymous: "never" };
}

function message(letters: string): Need {
  return { on: "o", account: letters, service: letters, anonymous: "never" };
}
