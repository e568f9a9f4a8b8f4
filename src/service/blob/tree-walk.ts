import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { key, keyAfter, keyOfTextPrefix, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Caller, judgeList } from "../../rules/posix-acl.ts";
import type { View } from "../../store/store.ts";
import { BatchedNeeds, type ItemNeeds } from "../shared/batched-needs.ts";
import { componentsOf } from "./find-path.ts";
import {
  firstIn,
  type ListedKinds,
  type ListedRevision,
  ListedRevisions,
  needsToList,
} from "./listed-revisions.ts";
import { type BlobPath, type ContainerId, isExpired, readBlob } from "./records.ts";

/** What to walk through. */
export interface TreeRange {
  /** The directory that is walked through, and its path: "" or one with a final slash. */
  readonly within: ContainerId;
  readonly path: string;
  /** What the names in this directory begin with. */
  readonly prefix: string;
  /** Whether to walk through the directories in it, too. */
  readonly isRecursive: boolean;
  /** Where to begin; null for the first path. */
  readonly start: TreeStart | null;
  readonly kinds: ListedKinds;
  /** Whom ACLs must grant to list each directory that is entered; null if they decide nothing. */
  readonly caller: Caller | null;
}

/**
 * A place in the order of paths:
 * - at: the path itself, if it exists
 * - behind: the next path; those in a directory come behind the directory itself
 * - past: the next path that does not lie in this one
 * - revision: the revision of this path behind the one with `stamp`
 */
export type TreeStart =
  | { readonly side: "at" | "behind" | "past"; readonly path: string }
  | { readonly side: "revision"; readonly path: string; readonly stamp: Stamp };

/** A file or directory, or an old form of one. */
export interface TreeItem {
  /** The whole path. */
  readonly name: string;
  /** The path of its directory, with a final slash; "" for the root. */
  readonly above: string;
  readonly found: ListedRevision;
  /** The directory that it lies in. */
  readonly parent: ContainerId;
  /** What lies in it; null unless it is a directory that is not deleted. */
  readonly directory: ContainerId | null;
}

/** Expired files that one store read may skip. */
const PASSED_MAX = 500;

/** Entries of each open directory among which the next ones are found whose lists are fetched together. */
const DIRECTORIES_AHEAD = 256;
/** Entries of directories that are fetched and not open yet, among which more are found. */
const ENTRIES_AHEAD_MAX = 1_024;
/** Rounds in which one store read may fetch lists of directories. */
const BATCHES_MAX = 8;

interface Level {
  /** The path of the directory, with a final slash. */
  readonly path: string;
  readonly directory: ContainerId;
  readonly revisions: ListedRevisions;
}

/**
 * Walks through the tree of a hierarchical container within one store read: a directory, then what
 * lies in it, then what comes behind it in its own directory. Reads little more than it returns.
 */
export class TreeWalk {
  readonly #view: View;
  readonly #range: TreeRange;
  readonly #budget = new BodyBudget();
  /** The directories that are open, the outermost first. */
  readonly #levels: Level[] = [];
  /** What is read first in each directory that is entered. */
  readonly #entered: BatchedNeeds<bigint>;
  #entering: ContainerId | null = null;
  /** Directories by the one that they are in, as far as they were looked for ahead. */
  readonly #found = new Map<bigint, readonly bigint[]>();
  #entriesAhead = 0;
  #passed = 0;
  #stoppedAt: TreeStart | null = null;

  constructor(view: View, range: TreeRange) {
    this.#view = view;
    this.#range = range;
    this.#entered = new BatchedNeeds(view, () => this.#directoriesAhead());
    this.#begin(range.start);
  }

  /** Where the walk stopped to let other requests run; null if it has not. */
  get stoppedAt(): TreeStart | null {
    return this.#stoppedAt;
  }

  /** Whether the walk has spent its budget and should let other requests run. */
  get isEnough(): boolean {
    return this.#budget.isSpent || this.#entered.batches >= BATCHES_MAX;
  }

  /** Null at the end, or once stopped. The caller will use at most `most`, including this one. */
  head(most: number): TreeItem | null {
    for (;;) {
      const level = this.#levels.at(-1);
      if (level === undefined || this.#stoppedAt !== null) return null;
      const found = level.revisions.head(most);
      if (found === null) {
        const { stoppedAt } = level.revisions;
        if (stoppedAt !== null) this.#stoppedAt = behindRevision(level.path, stoppedAt);
        else this.#levels.pop();
        continue;
      }
      const name = level.path + found.name;
      if (!isCurrent(found) || !isExpired(found.node, this.#view.now())) {
        return {
          name,
          above: level.path,
          found,
          parent: level.directory,
          directory: directoryOf(found),
        };
      }
      level.revisions.advance();
      if (++this.#passed === PASSED_MAX) this.#stoppedAt = { side: "past", path: name };
    }
  }

  /** Goes on behind the head: to what lies in it, if it is a directory. */
  advance({ name, found, directory }: TreeItem): void {
    this.#levels.at(-1)?.revisions.advance();
    if (directory === null || !this.#range.isRecursive) return;
    if (this.#range.caller !== null) this.#requireList(found.blob?.path ?? null);
    this.#entering = directory;
    this.#entered.before(directory.id);
    this.#open(directory, `${name}/`, null);
  }

  /**
   * The directories whose lists come next, as far as lists that are at hand tell: those of a level
   * of the tree are fetched together, so that a walk takes as many rounds as the tree is deep.
   */
  #directoriesAhead(): ItemNeeds<bigint>[] {
    const known = this.#entering === null ? [] : [this.#entering.id];
    for (const { revisions } of this.#levels.toReversed()) {
      known.push(...revisions.directoriesAhead(DIRECTORIES_AHEAD));
    }
    const next: bigint[] = [];
    for (const id of known) {
      if (this.#entered.isNamed(id)) known.push(...this.#directoriesIn(id));
      else next.push(id);
    }
    return next.map((id) => ({ id, needs: needsToList(id, this.#range.kinds) }));
  }

  /** The first directories in one whose list is at hand. */
  #directoriesIn(directory: bigint): readonly bigint[] {
    const found = this.#found.get(directory);
    if (found !== undefined) return found;
    if (this.#entriesAhead >= ENTRIES_AHEAD_MAX) return [];
    const { entries, directories } = firstIn(this.#view, directory, this.#range.kinds);
    this.#entriesAhead += entries;
    this.#found.set(directory, directories);
    return directories;
  }

  #requireList(path: BlobPath | null): void {
    const { caller } = this.#range;
    if (caller !== null && path !== null) refuse(judgeList(path.control, caller));
  }

  /** Opens the directories on the way to the start. */
  #begin(start: TreeStart | null): void {
    const { within, path, isRecursive } = this.#range;
    const components = componentsOf(start?.path.slice(path.length) ?? "");
    if (start === null || components.length === 0) {
      this.#open(within, path, null);
      return;
    }
    if (!components[0]?.startsWith(this.#range.prefix)) {
      this.#open(within, path, { side: "at", path: components[0] as string });
      return;
    }
    let parent = within;
    let at = path;
    for (const [depth, name] of components.entries()) {
      const isLast = depth === components.length - 1;
      this.#open(parent, at, isLast ? { ...start, path: name } : { side: "behind", path: name });
      const isEntered = !isLast || start.side === "behind";
      if (!isEntered || !isRecursive) return;
      const entered = readBlob(this.#view, { parent, name })?.path ?? null;
      if (entered === null || entered.directoryId === 0n) return;
      this.#requireList(entered);
      parent = { id: entered.directoryId };
      at += `${name}/`;
    }
    this.#open(parent, at, null);
  }

  #open(directory: ContainerId, path: string, start: TreeStart | null): void {
    const { kinds, prefix } = this.#range;
    // The prefix is one of the names in the outermost directory.
    const begins = this.#levels.length === 0 ? prefix : "";
    const revisions = new ListedRevisions(this.#view, directory, kinds, {
      startOf: (space) => startOf(space, directory, begins, start),
      endOf: (space) => keyAfter(keyOfTextPrefix(space, [directory.id], begins)),
      mayJump: false,
      budget: this.#budget,
    });
    this.#levels.push({ path, directory, revisions });
  }
}

function isCurrent({ revision, deleted }: ListedRevision): boolean {
  return revision === null && deleted === null;
}

function directoryOf(found: ListedRevision): ContainerId | null {
  const id = isCurrent(found) ? found.node.directoryId : 0n;
  return id === 0n ? null : { id };
}

/** The position behind a revision of a name in a directory. */
function behindRevision(path: string, at: Pick<ListedRevision, "name" | "stamp">): TreeStart {
  return { side: "revision", path: path + at.name, stamp: at.stamp };
}

function startOf(
  space: Space,
  { id }: ContainerId,
  prefix: string,
  start: TreeStart | null,
): Bytes {
  const first = keyOfTextPrefix(space, [id], prefix);
  if (start === null) return first;
  const { path: name } = start;
  const from =
    start.side === "at"
      ? keyOfTextPrefix(space, [id], name)
      : start.side === "revision"
        ? keyAfter(key(space, id, name, start.stamp))
        : keyAfter(key(space, id, name));
  return from.compare(first) > 0 ? from : first;
}
