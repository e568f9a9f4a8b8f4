import type { DataLease } from "../../../service/blob/data-lease.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { acquiredLeaseOf } from "../lease-headers.ts";
import { invalidHeader, requireHeader } from "../request-headers.ts";

const ACTION = "x-ms-lease-action";

/** What an append or flush does with the lease; null for nothing. Only a flush gives it back. */
export function dataLeaseOf(headers: RequestHeaders, flushes: boolean): DataLease | null {
  const action = headers.get(ACTION);
  if (action === undefined || action === "") return null;
  switch (action.toLowerCase()) {
    case "acquire":
      requireHeader(headers, "x-ms-proposed-lease-id");
      return { action: "acquire", acquire: acquiredLeaseOf(headers) };
    case "acquire-release":
      requireFlush(action, flushes);
      requireHeader(headers, "x-ms-proposed-lease-id");
      return { action: "acquire-release", acquire: acquiredLeaseOf(headers) };
    case "release":
      requireFlush(action, flushes);
      requireHeader(headers, "x-ms-lease-id");
      return { action: "release" };
    case "auto-renew":
      requireHeader(headers, "x-ms-lease-id");
      return { action: "auto-renew" };
    default:
      throw invalidHeader(ACTION, action, "Use acquire, auto-renew, release or acquire-release.");
  }
}

function requireFlush(action: string, flushes: boolean): void {
  if (!flushes) throw invalidHeader(ACTION, action, "Only a request with a flush gives it back.");
}

export function renewedHeaders({ isLeaseRenewed }: { isLeaseRenewed: boolean }): string[] {
  return isLeaseRenewed ? ["x-ms-lease-renewed", "true"] : [];
}
