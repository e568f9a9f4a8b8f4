import { fairQueue } from "../../base/fair-queue.ts";
import { Fault, type FaultCode, refuse } from "../../base/fault.ts";
import { callerByAcls, judgeReachBelow } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  type AccessControl,
  type AclChange,
  type Caller,
  changedAcl,
  judgeByAcl,
  judgeTraverse,
  rootAccessControl,
} from "../../rules/posix-acl.ts";
import { parseAcl, parseAclNames } from "../../rules/posix-acl-text.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { Transaction } from "../../store/store.ts";
import { type AdmittedControl, admitToControl } from "./admit-to-control.ts";
import { invalidAcl } from "./asked-access-control.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { directoryOf } from "./directories.ts";
import { componentsOf } from "./find-path.ts";
import { CURRENT_ONLY } from "./listed-revisions.ts";
import { writeControl } from "./set-access-control.ts";
import { type TreeItem, type TreeStart, TreeWalk } from "./tree-walk.ts";

/** Changes the ACLs of a path and, if it is a directory, of everything in it. */
export interface SetAccessControlRecursive extends BlobAsked {
  readonly mode: AclChange["mode"];
  readonly acl: string;
  readonly pathsMax: number;
  /** Where the previous request ended; null for the first one. */
  readonly after: string | null;
  /** Whether to go on behind a path that cannot be changed. */
  readonly goesOn: boolean;
}

export interface SetAccessControlRecursiveDone {
  readonly directories: number;
  readonly files: number;
  readonly failures: readonly FailedPath[];
  /** Where the next request goes on; null if nothing is left, or if a failure ended it. */
  readonly next: string | null;
}

export interface FailedPath {
  readonly name: string;
  readonly kind: PathKind;
  readonly code: FaultCode;
}

/** Paths that one transaction changes. */
const BODY_PATHS_MAX = 100;

export async function setAccessControlRecursive(
  context: BlobContext,
  asked: SetAccessControlRecursive,
): Promise<SetAccessControlRecursiveDone> {
  const change = parseChange(asked);
  let done = { directories: 0, files: 0, failures: [] as readonly FailedPath[] };
  let next = asked.after;
  for (let left = asked.pathsMax; ; ) {
    await fairQueue.next();
    const [from, room] = [next, Math.min(left, BODY_PATHS_MAX)];
    const part = await context.store.transact((tx) =>
      changeSome(context, tx, asked, change, from, room),
    );
    done = {
      directories: done.directories + part.directories,
      files: done.files + part.files,
      failures: [...done.failures, ...part.failures],
    };
    next = part.next;
    left -= part.directories + part.files + part.failures.length;
    if (next === null || left <= 0) return { ...done, next };
  }
}

/** Refuses what could not be done to any path. */
function parseChange({ mode, acl }: SetAccessControlRecursive): AclChange {
  const parsed = mode === "remove" ? parseAclNames(acl) : parseAcl(acl);
  if (parsed.value === null) throw invalidAcl(parsed.reason);
  const change = { mode, entries: parsed.value } as AclChange;
  const { reason } = changedAcl(rootAccessControl(null), change, true);
  if (reason !== null) throw invalidAcl(reason);
  return change;
}

/** Changes up to `room` paths from a position on. */
function changeSome(
  context: BlobContext,
  tx: Transaction,
  asked: SetAccessControlRecursive,
  change: AclChange,
  after: string | null,
  room: number,
): SetAccessControlRecursiveDone {
  const top = admitToControl(tx, asked, BLOB_NEEDS.setAccessControlRecursive);
  if (top.isDirectory) refuse(judgeReachBelow(asked.access));
  const part = new Part(context, tx, asked, change, top);
  const path = componentsOf(asked.at.blob).join("/");
  if (after !== null && !isWithin(after, path)) {
    throw new Fault("InvalidQueryParameterValue", { QueryParameterName: "continuation" });
  }
  const mayEnter = after === null ? part.change(path, top) : top.isDirectory;
  if (!mayEnter || part.isOver) return part.done(null);
  const walk = treeWalk(tx, top, path, after);
  let next = after ?? `/${path}`;
  while (part.size < room && !walk.isEnough) {
    const head = walk.head(room - part.size);
    if (head === null) return part.done(walk.stoppedAt && `/${walk.stoppedAt.path}/`);
    next = part.changeItem(walk, head);
    if (part.isOver) return part.done(null);
  }
  return part.done(walk.head(1) === null && walk.stoppedAt === null ? null : next);
}

function treeWalk(
  tx: Transaction,
  { container, blob }: AdmittedControl,
  path: string,
  after: string | null,
): TreeWalk {
  return new TreeWalk(tx, {
    within: blob === null ? container : directoryOf(blob),
    path: path === "" ? "" : `${path}/`,
    prefix: "",
    isRecursive: true,
    start: after === null ? null : startOf(after),
    kinds: CURRENT_ONLY,
    caller: null,
  });
}

function isWithin(position: string, path: string): boolean {
  return path === "" || position === `/${path}` || position.startsWith(`/${path}/`);
}

/** A position is `/` and a path; with a final slash, it is behind all that lies in the path. */
function startOf(position: string): TreeStart {
  const path = position.slice(1);
  if (!path.endsWith("/")) return { side: "behind", path };
  return { side: "past", path: path.slice(0, -1) };
}

/** What one transaction has changed. */
class Part {
  readonly #context: BlobContext;
  readonly #tx: Transaction;
  readonly #asked: SetAccessControlRecursive;
  readonly #change: AclChange;
  readonly #top: AdmittedControl;
  readonly #caller: Caller | null;
  readonly #failures: FailedPath[] = [];
  #directories = 0;
  #files = 0;

  constructor(
    context: BlobContext,
    tx: Transaction,
    asked: SetAccessControlRecursive,
    change: AclChange,
    top: AdmittedControl,
  ) {
    this.#context = context;
    this.#tx = tx;
    this.#asked = asked;
    this.#change = change;
    this.#top = top;
    this.#caller = callerByAcls(asked.access, BLOB_NEEDS.setAccessControl);
  }

  get size(): number {
    return this.#directories + this.#files + this.#failures.length;
  }

  /** Whether a failure ends the request. */
  get isOver(): boolean {
    return this.#failures.length > 0 && !this.#asked.goesOn;
  }

  /** Changes the head of a walk and goes on behind it. Returns the position behind it. */
  changeItem(walk: TreeWalk, head: TreeItem): string {
    const { blob } = head.found;
    const path = blob?.path ?? null;
    if (blob === null || path === null) throw new Error(`${head.name} is not a path`);
    const { container, place } = this.#top;
    const mayEnter = this.change(head.name, {
      container,
      place: { ...place, parent: head.parent, name: head.found.name },
      blob,
      control: path.control,
      isDirectory: head.directory !== null,
    });
    walk.advance(mayEnter ? head : { ...head, directory: null });
    return mayEnter || head.directory === null ? `/${head.name}` : `/${head.name}/`;
  }

  /** Returns whether it is a directory that the caller may go through, as it was until now. */
  change(name: string, admitted: AdmittedControl): boolean {
    const { control, isDirectory } = admitted;
    const code = this.#changed(admitted);
    const isClosed = isDirectory && !this.#mayPass(control);
    const failed = code ?? (isClosed ? "AuthorizationPermissionMismatch" : null);
    if (failed !== null) {
      this.#failures.push({ name, kind: isDirectory ? "directory" : "file", code: failed });
    }
    return isDirectory && !isClosed;
  }

  /** Null if the path was changed. */
  #changed(admitted: AdmittedControl): FaultCode | null {
    const { control, isDirectory } = admitted;
    const refused =
      this.#caller === null ? null : judgeByAcl(control, control, this.#caller, "own");
    if (refused !== null) return refused;
    const { value } = changedAcl(control, this.#change, isDirectory);
    if (value === null) return "InvalidAccessControlList";
    writeControl(this.#context, this.#tx, this.#asked.at, admitted, value);
    if (isDirectory) this.#directories++;
    else this.#files++;
    return null;
  }

  #mayPass(control: AccessControl): boolean {
    return this.#caller === null || judgeTraverse(control, this.#caller) === null;
  }

  done(next: string | null): SetAccessControlRecursiveDone {
    const [directories, files] = [this.#directories, this.#files];
    return { directories, files, failures: this.#failures, next };
  }
}
