import type { Need } from "./access.ts";

/** The permissions that operations on a whole service need, for Blob, Queue, Table and File. */
export const SERVICE_NEEDS = {
  getServiceProperties: service("r"),
  setServiceProperties: service("w"),
  getServiceStats: service("r"),
} as const satisfies Record<string, Need>;

function service(letters: string): Need {
  return { on: "s", account: letters, service: "", anonymous: "never" };
}
