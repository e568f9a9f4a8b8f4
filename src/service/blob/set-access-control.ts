import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions, type Versioned } from "../../rules/conditions.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { AccessControl } from "../../rules/posix-acl.ts";
import type { Transaction } from "../../store/store.ts";
import { type AdmittedControl, admitToControl } from "./admit-to-control.ts";
import {
  type AskedControl,
  changedControl,
  parseControl,
  requireNewOwners,
} from "./asked-access-control.ts";
import type { BlobContext, BlobUse, ContainerAddress } from "./context.ts";
import { reviseBlob } from "./history.ts";
import { writeContainer } from "./records.ts";
import { nextRevision, nextVersion } from "./version.ts";

export interface SetAccessControl extends BlobUse {
  readonly control: AskedControl;
}

/** Sets owner, group, permissions or ACL of a path. An empty path is the root directory. */
export async function setAccessControl(
  context: BlobContext,
  asked: SetAccessControl,
): Promise<Versioned> {
  const change = parseControl(asked.control);
  const setsRights = change.mode !== null || change.entries !== null;
  const need = setsRights ? BLOB_NEEDS.setAccessControl : BLOB_NEEDS.setPathOwner;
  return context.store.transact((tx) => {
    const admitted = admitToControl(tx, asked, need);
    const { container, blob, control, isDirectory } = admitted;
    refuse(judgeWriteByConditions(blob ?? container, asked.conditions));
    refuse(judgeWriteByLease(blob?.lease ?? null, asked.leaseId, tx.now(), "Blob"));
    requireNewOwners(tx, container, asked.access, control, change);
    const next = changedControl(control, change, isDirectory);
    return writeControl(context, tx, asked.at, admitted, next);
  });
}

/** Writes the access control of a path that was read before. */
export function writeControl(
  context: BlobContext,
  tx: Transaction,
  at: ContainerAddress,
  { container, place, blob }: AdmittedControl,
  control: AccessControl,
): Versioned {
  if (blob === null) {
    const version = nextVersion(tx, container);
    writeContainer(tx, at, { ...container, ...version, control });
    return version;
  }
  const written = nextRevision(context, tx, place, blob);
  const path = blob.path && { ...blob.path, control };
  reviseBlob(context, tx, place, blob, { ...blob, ...written, path });
  return written;
}
