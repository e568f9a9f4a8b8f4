import { Fault, refuse } from "../../base/fault.ts";
import { type Access, callerByAcls, callerOf, type Need } from "../../rules/access.ts";
import { judgeDepth } from "../../rules/blob-name.ts";
import {
  type AccessControl,
  type Caller,
  judgeByAcl,
  judgeTraverse,
  rootAccessControl,
} from "../../rules/posix-acl.ts";
import type { View } from "../../store/store.ts";
import type { BlobAsked } from "./context.ts";
import {
  type Container,
  type ContainerId,
  type Place,
  readBlob,
  readDirectory,
} from "./records.ts";

/** Where a blob is, or would be. */
export interface BlobPlace extends Place {
  readonly account: string;
  /** Null in a flat container, where a place is the container and the whole name. */
  readonly way: Way | null;
}

/** The directories on the way to a place in a hierarchical container. */
export interface Way {
  /** The innermost directory that exists. The root is the container itself. */
  readonly within: ContainerId;
  /** The names of the directories that do not exist yet, the outermost first. */
  readonly missing: readonly string[];
  /** Whether a part of the path is a file, so that nothing can lie below it. */
  readonly isBlocked: boolean;
  /** The access control of the innermost directory that exists. */
  readonly control: AccessControl;
  readonly visitor: Visitor;
}

/** The caller of an operation, as the walk through directories needs it. */
export interface Visitor {
  /** Whom ACLs decide on; null if roles or a SAS permit the operation, or if it is a super-user. */
  readonly caller: Caller | null;
  /** The owner of what the operation creates; null for the super-user. */
  readonly creator: string | null;
}

export function visitorOf(access: Access, need: Need): Visitor {
  return { caller: callerByAcls(access, need), creator: callerOf(access)?.id ?? null };
}

/** What holds a blob whose directory does not exist: nothing is ever stored there. */
const NOWHERE: ContainerId = { id: 0n };
const NONE: readonly string[] = [];

/**
 * Finds the place of a name. In a hierarchical container, walks through its directories: ACLs must
 * let the caller pass all of them, and grant what the operation needs at the place.
 */
export function findPlace(
  view: View,
  container: Container,
  { at, access }: BlobAsked,
  need: Need,
): BlobPlace {
  const { account, blob: name } = at;
  if (!container.isHierarchical) return { account, parent: container, name, way: null };
  const components = componentsOf(name);
  // Judged before the walk, which may be long. What a rename has moved deeper is still found.
  if (need.acl === "create") refuse(judgeDepth(components.length));
  const visitor = visitorOf(access, need);
  const place = walk(view, account, container, components, visitor);
  if (visitor.caller !== null) requireByAcl(place, controlAt(view, container, place), need);
  return place;
}

/** Null if nothing is there. */
function controlAt(view: View, container: Container, place: BlobPlace): AccessControl | null {
  if (place.name === "") return rootControlOf(container);
  return readBlob(view, place)?.path?.control ?? null;
}

/** The names along a path. Slashes that repeat, or that end the path, name nothing. */
export function componentsOf(path: string): string[] {
  return path.split("/").filter((component) => component !== "");
}

function walk(
  view: View,
  account: string,
  container: Container,
  components: readonly string[],
  visitor: Visitor,
): BlobPlace {
  const name = components.at(-1) ?? "";
  let within: ContainerId = container;
  let control = rootControlOf(container);
  requireTraverse(control, visitor);
  for (let depth = 0; depth < components.length - 1; depth++) {
    const next = { parent: within, name: components[depth] as string };
    const path = readDirectory(view, next);
    if (path === null) {
      const missing = components.slice(depth, -1);
      const isBlocked = readBlob(view, next) !== null;
      const way = { within, missing, isBlocked, control, visitor };
      return { account, parent: NOWHERE, name, way };
    }
    within = { id: path.directoryId };
    control = path.control;
    requireTraverse(control, visitor);
  }
  const way = { within, missing: NONE, isBlocked: false, control, visitor };
  return { account, parent: within, name, way };
}

function requireTraverse(control: AccessControl, { caller }: Visitor): void {
  if (caller !== null) refuse(judgeTraverse(control, caller));
}

/** Checks that ACLs grant the caller what an operation needs of an item, or of its free name. */
export function requireByAcl({ way }: BlobPlace, item: AccessControl | null, need: Need): void {
  if (way === null || way.visitor.caller === null || need.acl === undefined) return;
  refuse(judgeByAcl(way.control, item, way.visitor.caller, need.acl));
}

/** The access control of a container's root directory. */
export function rootControlOf({ control }: Container): AccessControl {
  return control ?? rootAccessControl(null);
}

/** Refuses to create something below a file. */
export function requireWay({ way }: BlobPlace): void {
  if (way?.isBlocked === true) throw new Fault("PathConflict");
}
