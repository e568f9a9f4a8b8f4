import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter, keyOfTextPrefix, SPACE } from "../../base/keys.ts";
import { type Access, refuseByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { isSystemContainer } from "../../rules/container-name.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import type { BlobContext } from "./context.ts";
import { EntryCursor } from "./entry-cursor.ts";
import { type Container, containerKey, decodeContainer, nameOfContainerKey } from "./records.ts";

export interface ListContainers {
  readonly account: string;
  readonly access: Access;
  readonly prefix: string;
  /** The last name of the list before; "" to begin with the first. */
  readonly after: string;
  readonly resultsMax: number;
  /** Whether `$logs` and its like are listed too. */
  readonly system: boolean;
}

export interface ListContainersDone {
  readonly containers: readonly ListedContainer[];
  /** Whether more follow behind the last of them. */
  readonly hasMore: boolean;
}

export interface ListedContainer {
  readonly name: string;
  readonly container: Container;
  readonly lease: LeaseStatus;
}

/** A long list is several bodies: each sees one state, and no writer waits for them. */
const BODY_ITEMS_MAX = 1_000;

export async function listContainers(
  context: BlobContext,
  asked: ListContainers,
): Promise<ListContainersDone> {
  const containers: ListedContainer[] = [];
  for (;;) {
    const after = containers.at(-1)?.name ?? asked.after;
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
  after: string,
  room: number,
): ListContainersDone {
  refuse(refuseByAccess(asked.access, BLOB_NEEDS.listContainers, null, view.now()));
  const prefix = keyOfTextPrefix(SPACE.container, [asked.account], asked.prefix);
  const from = after === "" ? prefix : later(prefix, keyAfter(containerKey(at(asked, after))));
  const cursor = new EntryCursor(view, from, keyAfter(prefix), false);
  const containers: ListedContainer[] = [];
  for (;;) {
    const entry = cursor.head(room - containers.length + 1);
    if (entry === null) return { containers, hasMore: false };
    const name = nameOfContainerKey(entry.key);
    const isListed = asked.system || !isSystemContainer(name);
    if (isListed && containers.length >= room) return { containers, hasMore: true };
    cursor.advance();
    if (!isListed) continue;
    const container = decodeContainer(entry.value);
    containers.push({ name, container, lease: leaseStatus(container.lease, view.now()) });
  }
}

function at({ account }: ListContainers, container: string) {
  return { account, container };
}

function later(one: Bytes, other: Bytes): Bytes {
  return one.compare(other) > 0 ? one : other;
}
