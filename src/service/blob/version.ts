import type { Versioned } from "../../rules/conditions.ts";
import { leaseAfterWrite } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import type { Blob } from "./records.ts";

/**
 * ETag and time of a new version. The time never goes backwards, even if the clock does: clients
 * order updates by it.
 */
export function nextVersion(tx: Transaction, old: Versioned | null): Versioned {
  return { etag: tx.stamp(), modifiedMs: Math.max(tx.now(), old?.modifiedMs ?? 0) };
}

/** What every write of a blob renews: its version, and the lease unless that is still locked. */
export function nextBlobVersion(
  tx: Transaction,
  old: Blob | null,
): Pick<Blob, "etag" | "modifiedMs" | "createdMs" | "lease"> {
  const { etag, modifiedMs } = nextVersion(tx, old);
  return {
    etag,
    modifiedMs,
    createdMs: old?.createdMs ?? tx.now(),
    lease: leaseAfterWrite(old?.lease ?? null, tx.now()),
  };
}
