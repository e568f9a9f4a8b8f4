import type { LeaseAction } from "../../../rules/lease.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { leaseFile } from "../../../service/file/lease-file.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { leaseActionOf, leaseResponse } from "../lease-headers.ts";
import { invalidHeader, requireNoHeaders } from "../request-headers.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleLeaseFile(context: FileContext, call: FileCall): Promise<RestResponse> {
  requireNoSnapshot(call);
  const lease = fileLeaseActionOf(call.request.headers);
  const done = await leaseFile(context, { ...pathAskedOf(call), lease });
  return leaseResponse(lease.action, done);
}

/** Reads a lease action. File leases are infinite: they cannot be renewed, and break at once. */
function fileLeaseActionOf(headers: RequestHeaders): LeaseAction {
  requireNoHeaders(headers, ["x-ms-lease-break-period"]);
  const lease = leaseActionOf(headers);
  if (lease.action === "renew") {
    throw invalidHeader("x-ms-lease-action", lease.action, "Leases on files never expire.");
  }
  if (lease.action === "acquire" && lease.durationSeconds !== -1) {
    const value = String(lease.durationSeconds);
    throw invalidHeader("x-ms-lease-duration", value, "A lease on a file has no end: send -1.");
  }
  return lease;
}
