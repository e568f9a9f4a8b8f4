import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeReadByConditions, type Versioned } from "../../rules/conditions.ts";
import { judgeReadByLease } from "../../rules/lease.ts";
import { EXECUTE, READ, type Rights, WRITE } from "../../rules/posix-acl.ts";
import { parseRights } from "../../rules/posix-acl-text.ts";
import type { View } from "../../store/store.ts";
import { type AdmittedControl, admitToControl } from "./admit-to-control.ts";
import type { BlobContext, BlobUse } from "./context.ts";

/** Asks whether the caller has rights on a path. An empty path is the root directory. */
export interface CheckAccess extends BlobUse {
  /** Such as `r-x`. */
  readonly rights: string;
}

/** Refuses a caller who lacks one of the rights, as the operation that needs it would. */
export async function checkAccess(context: BlobContext, asked: CheckAccess): Promise<Versioned> {
  const rights = parsed(asked.rights);
  return context.store.read((view) => {
    const { container, blob } = admit(view, asked, rights);
    const version = blob ?? container;
    refuse(judgeReadByConditions(version, asked.conditions));
    refuse(judgeReadByLease(blob?.lease ?? null, asked.leaseId, view.now(), "Blob"));
    return version;
  });
}

function parsed(text: string): Rights {
  const rights = parseRights(text);
  if (rights !== null) return rights;
  throw new Fault("InvalidQueryParameterValue", {
    QueryParameterName: "fsAction",
    QueryParameterValue: text,
    Reason: "It must be three letters, such as r-x.",
  });
}

function admit(view: View, asked: CheckAccess, rights: Rights): AdmittedControl {
  const needs = NEEDS.filter(([right]) => (rights & right) !== 0);
  let admitted: AdmittedControl | null = null;
  for (const [, need] of needs) admitted = admitToControl(view, asked, need);
  // Without rights to check, the question is whether the path can be reached.
  return admitted ?? admitToControl(view, asked, BLOB_NEEDS.getPathStatus);
}

const NEEDS = [
  [READ, BLOB_NEEDS.checkReadAccess],
  [WRITE, BLOB_NEEDS.checkWriteAccess],
  [EXECUTE, BLOB_NEEDS.checkExecuteAccess],
] as const;
