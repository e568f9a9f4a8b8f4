import { callerByAcls, type Need } from "../../rules/access.ts";
import {
  type AccessControl,
  type AclNeed,
  type Caller,
  judgeByAcl,
  judgeTraverse,
} from "../../rules/posix-acl.ts";
import type { View } from "../../store/store.ts";
import type { BlobAsked } from "./context.ts";
import { componentsOf, rootControlOf } from "./find-path.ts";
import { readBlob, readContainer } from "./records.ts";

/** The access control that refuses a caller. */
export interface AclRefusal {
  /** Of the directory or file; "" for the root directory. */
  readonly path: string;
  readonly control: AccessControl;
  readonly caller: Caller;
  /** What it does not grant. `pass`: to go through the directory. */
  readonly lacks: "pass" | AclNeed;
}

/** A directory or file along a path. */
interface Step {
  readonly path: string;
  readonly control: AccessControl;
}

/**
 * Finds out which access control along a path refuses an operation, for a caller whom it was
 * refused. Null if no ACL is the reason. Only for explanations: `findPlace` decides.
 */
export function findAclRefusal(
  view: View,
  { at, access }: Pick<BlobAsked, "at" | "access">,
  need: Need,
): AclRefusal | null {
  const caller = callerByAcls(access, need);
  const { acl } = need;
  if (caller === null || acl === undefined) return null;
  const { directories, item } = stepsTo(view, at);
  const closed = directories.find(({ control }) => judgeTraverse(control, caller) !== null);
  if (closed !== undefined) return { ...closed, caller, lacks: "pass" };
  const parent = directories.at(-1);
  if (parent === undefined) return null;
  if (judgeByAcl(parent.control, item?.control ?? null, caller, acl) === null) return null;
  const isOfParent = acl === "create" || acl === "delete";
  return { ...(isOfParent ? parent : (item ?? parent)), caller, lacks: acl };
}

/** The directories from the root on, and what the path names; null if nothing is there. */
function stepsTo(view: View, at: BlobAsked["at"]): { directories: Step[]; item: Step | null } {
  const container = readContainer(view, at);
  if (container === null || !container.isHierarchical) return { directories: [], item: null };
  const components = componentsOf(at.blob);
  const root = { path: "", control: rootControlOf(container) };
  const directories: Step[] = [root];
  if (components.length === 0) return { directories, item: root };
  let parent: { readonly id: bigint } = container;
  for (const [depth, name] of components.entries()) {
    const found = readBlob(view, { parent, name })?.path ?? null;
    if (found === null) return { directories, item: null };
    const step = { path: components.slice(0, depth + 1).join("/"), control: found.control };
    if (depth === components.length - 1) return { directories, item: step };
    directories.push(step);
    parent = { id: found.directoryId };
  }
  return { directories, item: null };
}
