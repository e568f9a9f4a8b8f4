import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  type BlobConditions,
  judgeWriteByConditions,
  type Versioned,
} from "../../rules/conditions.ts";
import { judgeByPendingCopy, judgeOnIncrementalCopy } from "../../rules/copy.ts";
import { type LeaseAction, stepLease } from "../../rules/lease.ts";
import { admitToBlob, requireTagConditions } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { writeBlob } from "./records.ts";

export interface LeaseBlob extends BlobAsked {
  readonly lease: LeaseAction;
  readonly conditions: BlobConditions;
}

export interface LeaseBlobDone {
  /** The blob's version, which leasing does not change. */
  readonly version: Versioned;
  readonly leaseId: string | null;
  /** Seconds until a broken lease ends. */
  readonly secondsLeft: number;
}

/** An archived blob can be leased too, because its bytes are neither read nor written. */
export async function leaseBlob(context: BlobContext, asked: LeaseBlob): Promise<LeaseBlobDone> {
  const breaks = asked.lease.action === "break";
  const need = breaks ? BLOB_NEEDS.breakBlobLease : BLOB_NEEDS.leaseBlob;
  return context.store.transact((tx) => {
    const { container, place, blob } = admitToBlob(tx, asked, need);
    refuse(judgeWriteByConditions(blob, asked.conditions));
    requireTagConditions(tx, asked, container, blob);
    refuse(judgeByPendingCopy(blob.copy));
    refuse(judgeOnIncrementalCopy(blob.copy));
    const outcome = stepLease(blob.lease, asked.lease, tx.now());
    if (outcome.refused !== null) throw new Fault(outcome.refused);
    writeBlob(tx, place, { ...blob, lease: outcome.lease });
    return {
      version: blob,
      leaseId: outcome.lease?.id ?? null,
      secondsLeft: outcome.secondsLeft,
    };
  });
}
