import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter, keyOfTextPrefix, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { isSystemContainer } from "../../rules/container-name.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type Deletion, deletionOf } from "../../rules/retention.ts";
import type { Entry, View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import { listPages } from "../shared/list-pages.ts";
import type { BlobContext } from "./context.ts";
import {
  type Container,
  containerKey,
  decodeContainer,
  decodeDeletedContainer,
  deletedContainerKey,
  nameOfContainerKey,
  versionOfContainerKey,
} from "./records.ts";

export interface ListContainers {
  readonly account: string;
  readonly access: Access;
  readonly prefix: string;
  /** The last one of the list before; null to begin with the first. */
  readonly after: ContainerPosition | null;
  readonly resultsMax: number;
  /** Whether those are listed too that were deleted and can be restored. */
  readonly deleted: boolean;
  /** Whether `$logs` and its like are listed too. */
  readonly system: boolean;
}

export interface ContainerPosition {
  readonly name: string;
  /** Null for one that is there: those of its name that were deleted follow it. */
  readonly version: Stamp | null;
}

/** A part of the answer, in order. */
export interface ListedContainers {
  readonly containers: readonly ListedContainer[];
  /** Where the list goes on; null if it does not. */
  readonly next: ContainerPosition | null;
}

export interface ListedContainer extends ContainerPosition {
  readonly container: Container;
  readonly lease: LeaseStatus;
  readonly deleted: Deletion | null;
}

/** Of those that were deleted many may be past restoring, and are not listed. */
const BODY_LOOKS_MAX = 2_000;

export function listContainers(
  context: BlobContext,
  asked: ListContainers,
): AsyncGenerator<ListedContainers> {
  const { after, resultsMax } = asked;
  return listPages(context.store, {
    after,
    resultsMax,
    read: (view, from, room) => listPage(view, asked, from, room),
    count: ({ containers }) => containers.length,
  });
}

function listPage(
  view: View,
  asked: ListContainers,
  after: ContainerPosition | null,
  room: number,
): ListedContainers {
  refuse(judgeByAccess(asked.access, BLOB_NEEDS.listContainers, null, view.now()));
  const all = new Containers(view, asked, after);
  const containers: ListedContainer[] = [];
  const budget = new BodyBudget();
  let last = after;
  for (let looks = 0; looks < BODY_LOOKS_MAX && !budget.isSpent; looks++) {
    const found = all.next(room - containers.length + 1);
    if (found === null) return { containers, next: null };
    budget.spend(found.bytes);
    const isHidden = !asked.system && isSystemContainer(found.name);
    if (found.listed !== null && !isHidden) {
      if (containers.length >= room) break;
      containers.push(found.listed);
    }
    last = found;
  }
  return { containers, next: last };
}

interface Found extends ContainerPosition {
  /** Of its record. */
  readonly bytes: number;
  /** Null if it is past restoring. */
  readonly listed: ListedContainer | null;
}

/** Containers in the order of their names, each followed by those of its name that were deleted. */
class Containers {
  readonly #view: View;
  readonly #live: EntryCursor;
  readonly #deleted: EntryCursor | null;

  constructor(view: View, asked: ListContainers, after: ContainerPosition | null) {
    this.#view = view;
    const cursor = (space: Space, behind: Bytes | null) => {
      const prefix = keyOfTextPrefix(space, [asked.account], asked.prefix);
      const from = behind !== null && behind.compare(prefix) > 0 ? behind : prefix;
      return new EntryCursor(view, from, keyAfter(prefix), false);
    };
    this.#live = cursor(SPACE.container, after && keyAfter(containerKey(at(asked, after))));
    this.#deleted = asked.deleted
      ? cursor(SPACE.deletedContainer, after && behindDeleted(asked, after))
      : null;
  }

  /** No more than `most` will be used, this one included. */
  next(most: number): Found | null {
    const live = this.#live.head(most);
    const deleted = this.#deleted?.head(most) ?? null;
    if (deleted !== null && (live === null || isBefore(deleted, live))) {
      this.#deleted?.advance();
      return this.#deletedOne(deleted);
    }
    if (live === null) return null;
    this.#live.advance();
    const at = { name: nameOfContainerKey(live.key), version: null };
    const listed = this.#listed(at, decodeContainer(live.value), null);
    return { ...at, listed, bytes: live.value.length };
  }

  #deletedOne(entry: Entry): Found {
    const found = decodeDeletedContainer(entry.value);
    const deletion = deletionOf(found, this.#view.now());
    const at = { name: nameOfContainerKey(entry.key), version: versionOfContainerKey(entry.key) };
    const listed = deletion && this.#listed(at, found.container, deletion);
    return { ...at, listed, bytes: entry.value.length };
  }

  #listed(at: ContainerPosition, container: Container, deleted: Deletion | null): ListedContainer {
    const lease = leaseStatus(container.lease, this.#view.now());
    return { ...at, container, lease, deleted };
  }
}

/** Behind their first byte both kinds of keys have the same parts. */
function isBefore(one: Entry, other: Entry): boolean {
  return one.key.subarray(1).compare(other.key.subarray(1)) < 0;
}

/** Nothing that was deleted is as old as 0. */
function behindDeleted(asked: ListContainers, after: ContainerPosition): Bytes {
  return keyAfter(deletedContainerKey(at(asked, after), after.version ?? 0n));
}

function at({ account }: ListContainers, { name }: ContainerPosition) {
  return { account, container: name };
}
