import { Fault } from "../../base/fault.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { type LeaseAction, stepLease } from "../../rules/lease.ts";
import { admitToFile } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { requireCompatibleOpens } from "./opens.ts";
import { writeFile } from "./tree-records.ts";

export interface LeaseFile extends PathAsked {
  readonly lease: LeaseAction;
}

export interface LeaseDone {
  /** The version of the file or share, which leasing does not change. */
  readonly version: Versioned;
  readonly leaseId: string | null;
  /** Seconds until a broken lease ends. */
  readonly secondsLeft: number;
}

/** Leases a file. A lease and handles with write or delete access exclude each other. */
export async function leaseFile(context: FileContext, asked: LeaseFile): Promise<LeaseDone> {
  const { action } = asked.lease;
  const isBreak = action === "break";
  return context.store.transact((tx) => {
    const { tree, file } = admitToFile(tx, asked, isBreak ? "breakFileLease" : "leaseFile");
    if (action === "acquire") requireCompatibleOpens(tx, tree, file.id, "acquireFileLease");
    const outcome = stepLease(file.lease, asked.lease, tx.now());
    if (outcome.refused !== null) throw new Fault(outcome.refused);
    writeFile(tx, tree, { ...file, lease: outcome.lease });
    return {
      version: file,
      leaseId: outcome.lease?.id ?? null,
      secondsLeft: outcome.secondsLeft,
    };
  });
}
