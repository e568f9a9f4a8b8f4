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
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
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
  /** The last container of the previous request's list; null to begin with the first. */
  readonly after: ContainerPosition | null;
  readonly resultsMax: number;
  /** Whether to list deleted containers that can be restored, too. */
  readonly deleted: boolean;
  /** Whether to list system containers such as `$logs`, too. */
  readonly system: boolean;
}

export interface ContainerPosition {
  readonly name: string;
  /** Null for a live container, which deleted ones of its name follow. */
  readonly version: Stamp | null;
}

/** A part of the list, in order. */
export interface ListedContainers {
  readonly containers: readonly ListedContainer[];
  /** Where the list continues; null if it is complete. */
  readonly next: ContainerPosition | null;
}

export interface ListedContainer extends ContainerPosition {
  readonly container: Container;
  readonly lease: LeaseStatus;
  readonly deleted: Deletion | null;
}

/** Records that one store read examines: many may be expired, and are not listed. */
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
  /** The length of its record. */
  readonly bytes: number;
  /** Null if it can no longer be restored. */
  readonly listed: ListedContainer | null;
}

/** Containers ordered by name, each followed by the deleted ones of its name. */
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

  /** The caller will use at most `most` containers, including this one. */
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

/** Skips the first byte, the space: the rest of both kinds of keys has the same parts. */
function isBefore(one: Entry, other: Entry): boolean {
  return one.key.subarray(1).compare(other.key.subarray(1)) < 0;
}

/** Version 0 comes before all deleted containers of a name. */
function behindDeleted(asked: ListContainers, after: ContainerPosition): Bytes {
  return keyAfter(deletedContainerKey(at(asked, after), after.version ?? 0n));
}

function at({ account }: ListContainers, { name }: ContainerPosition) {
  return { account, container: name };
}
