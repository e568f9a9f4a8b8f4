import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { key, keyAfter, keyOfTextPrefix, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Deletion, deletionOf } from "../../rules/retention.ts";
import { fetchesRecords } from "../../store/accelerated.ts";
import type { NeededRange } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
import { BatchedNeeds, type ItemNeeds } from "../shared/batched-needs.ts";
import { EntryCursor, FETCHED_ENTRIES_MIN, type ListedEntry } from "../shared/entry-cursor.ts";
import type { BlobRevision } from "./context.ts";
import { type Blob, type ContainerId, CURRENT, decodeBlob, nameOfBlobKey } from "./records.ts";
import { type DeletedBlob, decodeDeleted, stampOfKey } from "./revision-records.ts";

/** The kinds of revisions to list besides current blobs. */
export interface ListedKinds {
  /** Blobs that have uncommitted blocks only. */
  readonly uncommitted: boolean;
  /** Whether names with a blob and uncommitted blocks are listed twice. */
  readonly besides?: boolean;
  readonly snapshots: boolean;
  readonly versions: boolean;
  /** Deleted revisions of the listed kinds that can be restored. */
  readonly deleted: boolean;
  /** Blobs without a current version but with previous ones. */
  readonly versionsOnly: boolean;
  /** Nothing but deleted files and directories. */
  readonly deletedOnly?: boolean;
}

/** No other revisions. */
export const CURRENT_ONLY: ListedKinds = {
  uncommitted: false,
  snapshots: false,
  versions: false,
  deleted: false,
  versionsOnly: false,
};

/** Unlisted revisions that one store read may skip. */
const PASSED_MAX = 500;

/** Lookups of a page, if each may take a round of the store. */
const LOOKUPS_PER_PAGE = 8;
/** Versions for which a round fetches whether there is a newer one. */
const VERSIONS_AHEAD = 256;

/** Where a walk begins and ends, and whether it may jump past prefixes. */
export interface Walk {
  startOf(space: Space): Bytes;
  endOf(space: Space): Bytes;
  readonly mayJump: boolean;
  /** Shared by all walks of a store read. */
  readonly budget?: BodyBudget;
}

export interface ListedRevision {
  readonly name: string;
  /** Null if nothing is committed. */
  readonly blob: Blob | null;
  /** Remembered, because a walk through directories needs nothing else. */
  readonly node: TreeNode;
  /** Null for the current blob, and for a deleted one that has not been replaced. */
  readonly revision: BlobRevision | null;
  readonly deleted: Deletion | null;
  /** Whether it represents a blob that has previous versions only. */
  readonly hasVersionsOnly: boolean;
  /** Orders the revisions of a name. */
  readonly stamp: Stamp;
  /** The only entry it depends on, which may cache its text; null if it depends on more. */
  readonly entry: ListedEntry | null;
}

/** What a walk through a hierarchical container needs of a blob. */
export interface TreeNode extends Pick<Blob, "terms"> {
  /** 0 for a file. */
  readonly directoryId: bigint;
}

const NO_NODE: TreeNode = { directoryId: 0n, terms: null };

function nodeOf({ path, terms }: Blob): TreeNode {
  return path === null ? NO_NODE : { directoryId: path.directoryId, terms };
}

/** The position of a revision that is not listed. */
export type Passed = Pick<ListedRevision, "name" | "stamp">;

type Kind =
  | "current"
  | "snapshot"
  | "version"
  | "deleted"
  | "deleted revision"
  | "deleted path"
  | "staged";

const SPACES: Readonly<Record<Kind, Space>> = {
  staged: SPACE.stagedBlob,
  snapshot: SPACE.blobSnapshot,
  version: SPACE.blobVersion,
  "deleted revision": SPACE.deletedRevision,
  "deleted path": SPACE.deletedPath,
  deleted: SPACE.deletedBlob,
  current: SPACE.blob,
};

interface Source {
  readonly kind: Kind;
  readonly cursor: EntryCursor;
  /** What tells whether a revision is the newest of its name. */
  readonly newer: BatchedNeeds<Bytes>;
}

/**
 * Walks through the revisions of a container's blobs within one store read, by name and then from
 * the oldest to the current one. Merges the kinds: each has its own space, with the same key parts.
 */
export class ListedRevisions {
  readonly #view: View;
  readonly #container: ContainerId;
  readonly #asked: ListedKinds;
  readonly #current: Source;
  readonly #sources: readonly Source[];
  /** The source of the head. */
  #from: Source;
  readonly #budget: BodyBudget;
  #passed = 0;
  #stoppedAt: Passed | null = null;

  constructor(view: View, container: ContainerId, asked: ListedKinds, walk: Walk) {
    this.#view = view;
    this.#container = container;
    this.#asked = asked;
    this.#budget = walk.budget ?? new BodyBudget();
    const source = (kind: Kind): Source => {
      const space = SPACES[kind];
      const [start, end] = [walk.startOf(space), walk.endOf(space)];
      const cursor = new EntryCursor(view, start, end, walk.mayJump);
      const newer = new BatchedNeeds(view, () => this.#needsOfNewer(kind, cursor));
      return { kind, cursor, newer };
    };
    this.#sources = kindsOf(asked).map(source);
    this.#current = this.#sources.at(-1) as Source;
    this.#from = this.#current;
  }

  /** Where the walk stopped to let other requests run; null if it has not. */
  get stoppedAt(): Passed | null {
    return this.#stoppedAt;
  }

  /** Whether the walk has spent its budget and should let other requests run. */
  get isEnough(): boolean {
    return this.#budget.isSpent || this.#hasTakenManyRounds;
  }

  get #hasTakenManyRounds(): boolean {
    if (!fetchesRecords(this.#view)) return false;
    const lookups = this.#sources.reduce((sum, { cursor }) => sum + cursor.lookups, 0);
    return lookups >= LOOKUPS_PER_PAGE;
  }

  /** Null at the end, or once stopped. The caller will use at most `most`, including this one. */
  head(most: number): ListedRevision | null {
    while (this.#stoppedAt === null) {
      const entry = this.#first(most);
      if (entry === null) return null;
      this.#budget.spend(entry.value.length);
      const found = this.#listed(this.#from, entry, most);
      if (found !== null) return found;
      const isEnough = ++this.#passed === PASSED_MAX || this.isEnough;
      if (isEnough) this.#stoppedAt = passedAt(this.#from, entry);
      this.advance();
    }
    return null;
  }

  advance(): void {
    this.#from.cursor.advance();
  }

  /** The directories among the next current blobs, as far as they are read already. */
  directoriesAhead(limit: number): bigint[] {
    const next = this.#current.cursor.ahead(limit);
    const ids = next.map((entry) => entry.content(currentRevisionOf).node.directoryId);
    return ids.filter((id) => id !== 0n);
  }

  jumpPast(prefix: string): void {
    for (const { kind, cursor } of this.#sources) {
      cursor.jumpPast(keyOfTextPrefix(SPACES[kind], [this.#container.id], prefix));
    }
  }

  #first(most: number): ListedEntry | null {
    let first: ListedEntry | null = null;
    for (const source of this.#sources) {
      const entry = source.cursor.head(most);
      if (entry === null || (first !== null && !isBefore(entry, first))) continue;
      first = entry;
      this.#from = source;
    }
    return first;
  }

  /** Null if the revision is not listed. */
  #listed({ kind }: Source, entry: ListedEntry, most: number): ListedRevision | null {
    if (kind === "current") return entry.content(currentRevisionOf);
    const { key: found, value } = entry;
    const name = nameOfBlobKey(found);
    switch (kind) {
      case "staged":
        // Blocks beside a blob are not listed, except for exports.
        return this.#asked.besides !== true && this.#hasCurrent(name, most)
          ? null
          : listed(name, null, null, 0n);
      case "snapshot": {
        const stamp = stampOfKey(found);
        return listed(name, decodeBlob(value), { kind, stamp }, stamp);
      }
      case "version":
        return this.#version(name, stampOfKey(found), decodeBlob(value), most);
      default:
        return this.#deleted(name, stampOfKey(found), decodeDeleted(value), most);
    }
  }

  #version(name: string, stamp: Stamp, blob: Blob, most: number): ListedRevision | null {
    const hasVersionsOnly = this.#isLastVersion(name, most);
    if (!this.#asked.versions && !hasVersionsOnly) return null;
    // If versions are not listed, it represents its name only.
    const shown = this.#asked.versions ? blob : { ...blob, versionId: 0n };
    return { ...listed(name, shown, { kind: "version", stamp }, stamp), hasVersionsOnly };
  }

  #deleted(name: string, place: Stamp, deleted: DeletedBlob, most: number): ListedRevision | null {
    const { was, stamp, blob } = deleted;
    const deletion = deletionOf(deleted, this.#view.now());
    if (deletion === null) return null;
    if (was === "path") return { ...listed(name, blob, null, place), deleted: deletion };
    // A deleted blob that has been replaced counts as a snapshot of its successor.
    const kind = was === "current" ? (this.#hasCurrent(name, most) ? "snapshot" : null) : was;
    const hasVersionsOnly = kind === "version" && this.#isLastVersion(name, most);
    const isAsked = kind === null || this.#asked[kind === "version" ? "versions" : "snapshots"];
    if (!(this.#asked.deleted && isAsked) && !hasVersionsOnly) return null;
    const revision = kind === null ? null : { kind, stamp };
    return { ...listed(name, blob, revision, place), deleted: deletion, hasVersionsOnly };
  }

  #hasCurrent(name: string, most: number): boolean {
    const current = this.#current.cursor.head(most);
    return current?.content(currentRevisionOf).name === name;
  }

  /**
   * Whether the head represents a blob that has previous versions only: it is the newest version,
   * or the newest deleted one if no other version is left.
   */
  #isLastVersion(name: string, most: number): boolean {
    if (!this.#asked.versionsOnly || this.#hasCurrent(name, most)) return false;
    const { kind, cursor } = this.#from;
    const head = cursor.head(most) as Entry;
    this.#from.newer.before(head.key);
    const behind = keyAfter(head.key);
    if (this.#has(SPACES[kind], name, behind)) return false;
    return kind === "version" || !this.#has(SPACE.blobVersion, name, null);
  }

  /** Whether a space has an entry of this name, at or after `from`. */
  #has(space: Space, name: string, from: Bytes | null): boolean {
    const { from: start, until, options } = this.#needOf(space, name, from);
    return this.#view.range(start, until, options).length > 0;
  }

  #needOf(space: Space, name: string, from: Bytes | null): NeededRange {
    const all = key(space, this.#container.id, name);
    return { from: from ?? all, until: keyAfter(all), options: { limit: 1 } };
  }

  /** What `#has` will read for the next revisions of a source. */
  #needsOfNewer(kind: Kind, cursor: EntryCursor): ItemNeeds<Bytes>[] {
    return cursor.ahead(VERSIONS_AHEAD).map(({ key: id }) => {
      const name = nameOfBlobKey(id);
      const newer = this.#needOf(SPACES[kind], name, keyAfter(id));
      if (kind === "version") return { id, needs: [newer] };
      return { id, needs: [newer, this.#needOf(SPACE.blobVersion, name, null)] };
    });
  }
}

/** What a walk reads first in a directory. */
export function needsToList(directory: bigint, asked: ListedKinds): NeededRange[] {
  return kindsOf(asked).map((kind) => {
    const all = key(SPACES[kind], directory);
    return { from: all, until: keyAfter(all), options: { limit: FETCHED_ENTRIES_MIN } };
  });
}

/** What the current blobs of a directory begin with. It is at hand where those needs were named. */
export function firstIn(
  view: View,
  directory: bigint,
  asked: ListedKinds,
): { readonly entries: number; readonly directories: readonly bigint[] } {
  const current = needsToList(directory, asked).find(({ from }) => from[0] === SPACE.blob);
  if (current === undefined) return { entries: 0, directories: [] };
  const { from, until, options } = current;
  const entries = view.range(from, until, { ...options, skipsDamaged: true });
  const ids = entries.map(({ value }) => nodeOf(decodeBlob(value)).directoryId);
  return { entries: entries.length, directories: ids.filter((id) => id !== 0n) };
}

/** The order decides between revisions with equal names and stamps. */
function kindsOf(asked: ListedKinds): Kind[] {
  if (asked.deletedOnly === true) return ["deleted path"];
  const kinds: Kind[] = [];
  if (asked.uncommitted) kinds.push("staged");
  if (asked.snapshots) kinds.push("snapshot");
  if (asked.versions || asked.versionsOnly) kinds.push("version");
  const areRevisionsAsked = asked.deleted && (asked.snapshots || asked.versions);
  if (areRevisionsAsked || asked.versionsOnly) kinds.push("deleted revision");
  if (asked.deleted) kinds.push("deleted path", "deleted");
  kinds.push("current");
  return kinds;
}

/** Skips the first byte, the space: the rest of all keys has the same parts. */
function isBefore(one: Entry, other: Entry): boolean {
  return one.key.subarray(1).compare(other.key.subarray(1)) < 0;
}

/** Uncommitted blocks have no stamp and come before all revisions of their name. */
function passedAt({ kind }: Source, { key: found }: Entry): Passed {
  return { name: nameOfBlobKey(found), stamp: kind === "staged" ? 0n : stampOfKey(found) };
}

/** Decodes its record on demand only, because a cached text makes that unnecessary. */
class CurrentRevision implements ListedRevision {
  readonly name: string;
  readonly revision = null;
  readonly deleted = null;
  readonly hasVersionsOnly = false;
  readonly stamp = CURRENT;
  readonly entry: ListedEntry;
  #node: TreeNode | null = null;

  constructor(entry: ListedEntry) {
    this.name = nameOfBlobKey(entry.key);
    this.entry = entry;
  }

  get blob(): Blob {
    return decodeBlob(this.entry.value);
  }

  get node(): TreeNode {
    this.#node ??= nodeOf(this.blob);
    return this.#node;
  }
}

function currentRevisionOf(entry: ListedEntry): ListedRevision {
  return new CurrentRevision(entry);
}

function listed(
  name: string,
  blob: Blob | null,
  revision: BlobRevision | null,
  stamp: Stamp,
): ListedRevision {
  const node = blob === null ? NO_NODE : nodeOf(blob);
  return { name, blob, node, revision, deleted: null, hasVersionsOnly: false, stamp, entry: null };
}
