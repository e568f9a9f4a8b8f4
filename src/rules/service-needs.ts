import type { Need } from "./access.ts";

/** The permissions that operations on a whole service need, for Blob, Queue, Table and File. */
export const SERVICE_NEEDS = {
  getServiceProperties: service("r", "read"),
  setServiceProperties: service("w", "write"),
  getServiceStats: service("r", "read"),
} as const satisfies Record<string, Need>;

/** Needs a bearer token. */
export const USER_DELEGATION_KEY_NEED = service("", "generateUserDelegationKey/action");

function service(letters: string, action: string): Need {
  return { on: "s", account: letters, service: "", anonymous: "never", actions: [action] };
}
