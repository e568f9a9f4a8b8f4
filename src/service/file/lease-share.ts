import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { type LeaseAction, stepLease } from "../../rules/lease.ts";
import { admitToShare, requireSnapshot } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import type { LeaseDone } from "./lease-file.ts";
import { writeShare, writeSnapshot } from "./records.ts";

export interface LeaseShare extends ShareAsked {
  readonly lease: LeaseAction;
}

/** Leases a share or one of its snapshots. */
export async function leaseShare(context: FileContext, asked: LeaseShare): Promise<LeaseDone> {
  const breaks = asked.lease.action === "break";
  const need = breaks ? FILE_NEEDS.breakShareLease : FILE_NEEDS.leaseShare;
  return context.store.transact((tx) => {
    const share = admitToShare(tx, asked, need);
    const { snapshot } = asked.at;
    const named = snapshot === null ? null : requireSnapshot(tx, share, snapshot);
    const leased = named?.snapshot ?? share;
    const outcome = stepLease(leased.lease, asked.lease, tx.now());
    if (outcome.refused !== null) throw new Fault(outcome.refused);
    const { lease, secondsLeft } = outcome;
    if (named === null) writeShare(tx, asked.at, { ...share, lease });
    else writeSnapshot(tx, share, named.stamp, { ...named.snapshot, lease });
    return { version: leased, leaseId: lease?.id ?? null, secondsLeft };
  });
}
