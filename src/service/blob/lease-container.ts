import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type Conditions, judgeWriteByConditions, type Versioned } from "../../rules/conditions.ts";
import { type LeaseAction, stepLease } from "../../rules/lease.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import { writeContainer } from "./records.ts";

export interface LeaseContainer extends ContainerAsked {
  readonly lease: LeaseAction;
  readonly conditions: Conditions;
}

export interface LeaseContainerDone {
  /** The container's version, which leasing does not change. */
  readonly version: Versioned;
  readonly leaseId: string | null;
  /** Seconds until a broken lease ends. */
  readonly secondsLeft: number;
}

export async function leaseContainer(
  context: BlobContext,
  asked: LeaseContainer,
): Promise<LeaseContainerDone> {
  const breaks = asked.lease.action === "break";
  const need = breaks ? BLOB_NEEDS.breakContainerLease : BLOB_NEEDS.leaseContainer;
  return context.store.transact((tx) => {
    const container = admitToContainer(tx, asked, need);
    refuse(judgeWriteByConditions(container, asked.conditions));
    const outcome = stepLease(container.lease, asked.lease, tx.now());
    if (outcome.refused !== null) throw new Fault(outcome.refused);
    writeContainer(tx, asked.at, { ...container, lease: outcome.lease });
    return {
      version: container,
      leaseId: outcome.lease?.id ?? null,
      secondsLeft: outcome.secondsLeft,
    };
  });
}
