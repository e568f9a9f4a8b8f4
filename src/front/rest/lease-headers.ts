import { newGuid } from "../../base/ids.ts";
import {
  LEASE_BREAK_SECONDS_MAX,
  LEASE_SECONDS_MAX,
  LEASE_SECONDS_MIN,
} from "../../base/limits.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { AcquireLease, LeaseAction } from "../../rules/lease.ts";
import type { RequestHeaders, RestResponse } from "./http/exchange.ts";
import { invalidHeader, leaseIdOf, numberOf, requireHeader } from "./request-headers.ts";
import { versionHeaders } from "./response-headers.ts";

/** Reads the lease action from the headers, which are the same in every service that has leases. */
export function leaseActionOf(headers: RequestHeaders): LeaseAction {
  const action = requireHeader(headers, "x-ms-lease-action");
  switch (action.toLowerCase()) {
    case "acquire":
      return acquiredLeaseOf(headers);
    case "renew":
      return { action: "renew", id: requireLeaseId(headers, "x-ms-lease-id") };
    case "change":
      return {
        action: "change",
        id: requireLeaseId(headers, "x-ms-lease-id"),
        proposedId: requireLeaseId(headers, "x-ms-proposed-lease-id"),
      };
    case "release":
      return { action: "release", id: requireLeaseId(headers, "x-ms-lease-id") };
    case "break": {
      const period = numberOf(headers, "x-ms-lease-break-period", 0, LEASE_BREAK_SECONDS_MAX);
      return { action: "break", periodSeconds: period };
    }
    default:
      throw invalidHeader("x-ms-lease-action", action);
  }
}

const STATUS = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

export function leaseResponse(
  action: LeaseAction["action"],
  done: { version: Versioned; leaseId: string | null; secondsLeft: number },
): RestResponse {
  const headers = versionHeaders(done.version);
  if (action === "break") headers.push("x-ms-lease-time", String(done.secondsLeft));
  else if (done.leaseId !== null) headers.push("x-ms-lease-id", done.leaseId);
  return { status: STATUS[action], headers, body: null };
}

/** Reads the lease that a request acquires, on its own or with what it creates or writes. */
export function acquiredLeaseOf(headers: RequestHeaders): AcquireLease {
  const duration = requireHeader(headers, "x-ms-lease-duration");
  const durationSeconds = numberOf(headers, "x-ms-lease-duration", -1, LEASE_SECONDS_MAX) ?? -1;
  if (durationSeconds !== -1 && durationSeconds < LEASE_SECONDS_MIN) {
    throw invalidHeader("x-ms-lease-duration", duration);
  }
  const proposedId = leaseIdOf(headers, "x-ms-proposed-lease-id");
  return {
    action: "acquire",
    proposedId: proposedId ?? newGuid(),
    isNewId: proposedId === null,
    durationSeconds,
  };
}

function requireLeaseId(headers: RequestHeaders, name: string): string {
  const value = requireHeader(headers, name);
  const id = leaseIdOf(headers, name);
  if (id === null) throw invalidHeader(name, value);
  return id;
}
