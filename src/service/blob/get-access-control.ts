import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeReadByConditions, type Versioned } from "../../rules/conditions.ts";
import { judgeReadByLease } from "../../rules/lease.ts";
import { admitToControl } from "./admit-to-control.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { type ShownAccessControl, shownAccessControl } from "./shown-access-control.ts";

export interface AccessControlFound extends ShownAccessControl {
  readonly version: Versioned;
}

/** An empty path is the container's root directory. */
export async function getAccessControl(
  context: BlobContext,
  asked: BlobUse,
): Promise<AccessControlFound> {
  return context.store.read((view) => {
    const { container, blob, control } = admitToControl(view, asked, BLOB_NEEDS.getAccessControl);
    const version = blob ?? container;
    refuse(judgeReadByConditions(version, asked.conditions));
    refuse(judgeReadByLease(blob?.lease ?? null, asked.leaseId, view.now(), "Blob"));
    return { version, ...shownAccessControl(control) };
  });
}
