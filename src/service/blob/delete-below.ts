import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { callerByAcls } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type Caller, judgeDeleteBelow } from "../../rules/posix-acl.ts";
import type { View } from "../../store/store.ts";
import { admitToBlobName } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { directoryOf, isDirectory } from "./directories.ts";
import { componentsOf } from "./find-path.ts";
import { CURRENT_ONLY } from "./listed-revisions.ts";
import { type TreeStart, TreeWalk } from "./tree-walk.ts";

/**
 * Checks that ACLs grant a caller to delete a directory with everything in it: this takes all
 * rights of each directory below. As in the service, the check comes before the deletion, which is
 * one step: what somebody else creates meanwhile goes, too.
 */
export async function requireDeleteBelow(context: BlobContext, asked: BlobAsked): Promise<void> {
  const caller = callerByAcls(asked.access, BLOB_NEEDS.deletePath);
  if (caller === null || caller.isAuthorized === true) return;
  let start: TreeStart | null = null;
  do {
    await fairQueue.next();
    const from: TreeStart | null = start;
    start = await context.store.read((view) => requireSome(view, asked, caller, from));
  } while (start !== null);
}

/** Paths that are read from the store at once. */
const PAGE_ITEMS_MAX = 250;

/** Returns where to go on; null if all is checked. */
function requireSome(
  view: View,
  asked: BlobAsked,
  caller: Caller,
  start: TreeStart | null,
): TreeStart | null {
  const { old } = admitToBlobName(view, asked, BLOB_NEEDS.deletePath);
  if (old === null || old.path === null || !isDirectory(old)) return null;
  refuse(judgeDeleteBelow(old.path.control, caller));
  const walk = new TreeWalk(view, {
    within: directoryOf(old),
    path: `${componentsOf(asked.at.blob).join("/")}/`,
    prefix: "",
    isRecursive: true,
    start,
    kinds: CURRENT_ONLY,
    caller: null,
  });
  for (;;) {
    const head = walk.head(PAGE_ITEMS_MAX);
    if (head === null) return walk.stoppedAt;
    const path = head.directory === null ? null : (head.found.blob?.path ?? null);
    if (path !== null) refuse(judgeDeleteBelow(path.control, caller));
    if (walk.isEnough) return { side: "behind", path: head.name };
    walk.advance(head);
  }
}
