import type { AskedControl, AskedNewControl } from "../../../service/blob/asked-access-control.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";
import { flagFromQuery } from "./query-flag.ts";

/** Headers about owners, permissions and ACLs. */

export function askedControlOf(headers: RequestHeaders): AskedControl {
  return {
    owner: headers.get("x-ms-owner") ?? null,
    group: headers.get("x-ms-group") ?? null,
    permissions: headers.get("x-ms-permissions") ?? null,
    // Clients that change only the owner send an empty list.
    acl: headers.get("x-ms-acl") || null,
  };
}

export function askedNewControlOf(headers: RequestHeaders): AskedNewControl {
  return { ...askedControlOf(headers), umask: headers.get("x-ms-umask") ?? null };
}

/**
 * Checks `upn`, which asks for names of users instead of their ids. Without a directory there are
 * no names: ids are shown as they are, as the service shows those that it has no name for.
 */
export function requireValidUpn(query: Query): void {
  flagFromQuery(query, "upn");
}
