import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import { type AcquireLease, type Lease, stepLease } from "../../rules/lease.ts";
import type { Blob } from "./records.ts";

/** What an append or flush does with the lease of its file. */
export type DataLease =
  | {
      /** `acquire-release` gives the lease back when the data is written. */
      readonly action: "acquire" | "acquire-release";
      readonly acquire: AcquireLease;
    }
  | { readonly action: "auto-renew" | "release" };

/** The lease under which the data is written. */
export function leaseForData(
  lease: Lease | null,
  asked: DataLease | null,
  leaseId: string | null,
  now: Instant,
): Lease | null {
  if (asked === null || asked.action === "release") return lease;
  if ("acquire" in asked) return step(lease, asked.acquire, now);
  return step(lease, { action: "renew", id: leaseId ?? "" }, now);
}

/** The id by which the data is written: that of the new lease, if one was acquired. */
export function leaseIdAfter(asked: DataLease | null, leaseId: string | null): string | null {
  return asked !== null && "acquire" in asked ? asked.acquire.proposedId : leaseId;
}

/** The file after the data is written: the lease is gone if the request gives it back. */
export function endLease(blob: Blob, asked: DataLease | null, now: Instant): Blob {
  const releases = asked?.action === "release" || asked?.action === "acquire-release";
  if (!releases || blob.lease === null) return blob;
  return { ...blob, lease: step(blob.lease, { action: "release", id: blob.lease.id }, now) };
}

function step(
  lease: Lease | null,
  asked: Parameters<typeof stepLease>[1],
  now: Instant,
): Lease | null {
  const outcome = stepLease(lease, asked, now);
  if (outcome.refused !== null) throw new Fault(outcome.refused);
  return outcome.lease;
}
