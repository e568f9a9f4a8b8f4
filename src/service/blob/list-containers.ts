import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter, keyOfTextPrefix, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Access, refuseByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { isSystemContainer } from "../../rules/container-name.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type Deletion, deletionOf } from "../../rules/retention.ts";
import { EntryCursor } from "../../store/entry-cursor.ts";
import type { Entry, View } from "../../store/store.ts";
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

export interface ListContainersDone {
  readonly containers: readonly ListedContainer[];
  /** Whether more follow behind the last of them. */
  readonly hasMore: boolean;
}

export interface ListedContainer extends ContainerPosition {
  readonly container: Container;
  readonly lease: LeaseStatus;
  readonly deleted: Deletion | null;
}

/** A long list is several bodies: each sees one state, and no writer waits for them. */
const BODY_ITEMS_MAX = 1_000;

export async function listContainers(
  context: BlobContext,
  asked: ListContainers,
): Promise<ListContainersDone> {
  const containers: ListedContainer[] = [];
  for (;;) {
    const after = containers.at(-1) ?? asked.after;
    const room = Math.min(asked.resultsMax - containers.length, BODY_ITEMS_MAX);
    const page = await context.store.read((view) => listPage(view, asked, after, room));
    containers.push(...page.containers);
    if (!page.hasMore || containers.length >= asked.resultsMax) {
      return { containers, hasMore: page.hasMore };
    }
  }
}

function listPage(
  view: View,
  asked: ListContainers,
  after: ContainerPosition | null,
  room: number,
): ListContainersDone {
  refuse(refuseByAccess(asked.access, BLOB_NEEDS.listContainers, null, view.now()));
  const found = new Containers(view, asked, after);
  const containers: ListedContainer[] = [];
  for (;;) {
    const listed = found.next(room - containers.length + 1);
    if (listed === null) return { containers, hasMore: false };
    if (!asked.system && isSystemContainer(listed.name)) continue;
    if (containers.length >= room) return { containers, hasMore: true };
    containers.push(listed);
  }
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
  next(most: number): ListedContainer | null {
    for (;;) {
      const live = this.#live.head(most);
      const deleted = this.#deleted?.head(most) ?? null;
      if (deleted === null || (live !== null && isBefore(live, deleted))) {
        if (live === null) return null;
        this.#live.advance();
        return this.#listed(nameOfContainerKey(live.key), null, decodeContainer(live.value), null);
      }
      this.#deleted?.advance();
      const found = decodeDeletedContainer(deleted.value);
      const deletion = deletionOf(found, this.#view.now());
      if (deletion === null) continue;
      const version = versionOfContainerKey(deleted.key);
      return this.#listed(nameOfContainerKey(deleted.key), version, found.container, deletion);
    }
  }

  #listed(
    name: string,
    version: Stamp | null,
    container: Container,
    deleted: Deletion | null,
  ): ListedContainer {
    const lease = leaseStatus(container.lease, this.#view.now());
    return { name, version, container, lease, deleted };
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
