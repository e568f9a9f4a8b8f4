import type { Stamp } from "../../base/stamp.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { leaseAfterWrite } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import type { BlobAddress, BlobContext } from "./context.ts";
import type { Blob } from "./records.ts";

/** What a write tells of the blob that it made. */
export interface BlobWritten extends Versioned {
  /** 0 without versioning. */
  readonly versionId: Stamp;
}

/**
 * ETag and time of a new version. The time never goes backwards, even if the clock does: clients
 * order updates by it.
 */
export function nextVersion(tx: Transaction, old: Versioned | null): Versioned {
  return { etag: tx.stamp(), modifiedMs: Math.max(tx.now(), old?.modifiedMs ?? 0) };
}

export type NextBlobState = Pick<Blob, "etag" | "modifiedMs" | "createdMs" | "lease" | "versionId">;

/** The same, of a write that begins a new version where the account keeps them. */
export function nextBlobState(
  context: BlobContext,
  tx: Transaction,
  at: BlobAddress,
  old: Blob | null,
): NextBlobState {
  const { etag, modifiedMs, createdMs, lease } = nextBlobVersion(tx, old);
  const versionId = context.settingsOf(at.account).versioning ? etag : 0n;
  return { etag, modifiedMs, createdMs, lease, versionId };
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
