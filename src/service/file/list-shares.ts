import { BODY_BYTES_MAX, BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { key, keyAfter, keyOfTextPrefix, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type Deletion, deletionOf } from "../../rules/retention.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
import { listPages } from "../shared/list-pages.ts";
import type { FileContext } from "./context.ts";
import {
  bytesOfMetadata,
  deletedShareKey,
  deletedShareOfEntry,
  type Share,
  type ShareSnapshot,
  shareOfEntry,
  snapshotsOf,
} from "./records.ts";
import { type TierStatus, tierStatus } from "./share-tier.ts";

export interface ListShares {
  readonly account: string;
  readonly access: Access;
  readonly prefix: string;
  /** Where the previous list ended. */
  readonly after: SharePosition | null;
  readonly resultsMax: number;
  /** Whether to list snapshots, before their share; `deleted` likewise for restorable shares. */
  readonly snapshots: boolean;
  readonly deleted: boolean;
}

/** The order under one name: deleted shares, then snapshots, then the share. */
const DELETED = 0;
const SNAPSHOT = 1;
const SHARE = 2;

/** A position in the list, which stays valid whatever changes meanwhile. */
export interface SharePosition {
  readonly name: string;
  readonly kind: number;
  readonly stamp: Stamp;
}

/** A part of the answer, in order. */
export interface ListedShares {
  readonly shares: readonly ListedShare[];
  /** Where the list continues; null at its end. */
  readonly next: SharePosition | null;
}

export interface ListedShare extends SharePosition {
  readonly share: Share;
  /** The share as it is now, or one of its snapshots. */
  readonly revision: Share | ShareSnapshot;
  readonly snapshot: Stamp | null;
  readonly deleted: Deletion | null;
  readonly lease: LeaseStatus;
  readonly tier: TierStatus;
}

/** Deleted shares of one body. Many may have expired, and are not listed. */
const BODY_DELETED_MAX = 1_000;

export function listShares(context: FileContext, asked: ListShares): AsyncGenerator<ListedShares> {
  const { after, resultsMax } = asked;
  return listPages(context.store, {
    after,
    resultsMax,
    read: (view, from, room) => listPage(view, asked, from, room),
    count: ({ shares }) => shares.length,
  });
}

function listPage(
  view: View,
  asked: ListShares,
  after: SharePosition | null,
  room: number,
): ListedShares {
  refuse(judgeByAccess(asked.access, FILE_NEEDS.listShares, null, view.now()));
  // The name to continue after may have been listed in part, or may be gone.
  const name = keyOfTextPrefix(SPACE.share, [asked.account], after?.name ?? "");
  const foundLive = entriesOf(view, SPACE.share, asked, name, room + 2);
  const foundDeleted = asked.deleted ? deletedBehind(view, asked, after) : [];
  const live = foundLive.map(shareOfEntry);
  const deleted = foundDeleted.map(deletedShareOfEntry);
  // If there are more than were read, the page ends with the last one, however few it lists.
  const lastLive = isCut(foundLive, room + 2) ? live.at(-1) : null;
  const lastDeleted = isCut(foundDeleted, BODY_DELETED_MAX) ? deleted.at(-1) : null;
  const shares: ListedShare[] = [];
  const budget = new BodyBudget();
  // The sort is stable, so deleted shares come first among those of one name.
  const named = [...deleted, ...live].sort((one, other) => ordinally(one.name, other.name));
  for (const one of named) {
    const under = "deleted" in one ? listedDeleted(view, one) : listedLive(view, asked, one);
    for (const item of under) {
      if (after !== null && !isBehind(item, after)) continue;
      if (shares.length === room) return { shares, next: shares.at(-1) ?? null };
      shares.push(item);
      budget.spend(bytesOfMetadata(item.revision.metadata));
    }
    if (one === lastDeleted) {
      return { shares, next: { name: one.name, kind: DELETED, stamp: lastDeleted.version } };
    }
    if (one === lastLive) return { shares, next: { name: one.name, kind: SHARE, stamp: 0n } };
    if (budget.isSpent && shares.length < room) return { shares, next: shares.at(-1) ?? null };
  }
  return { shares, next: null };
}

function deletedBehind(view: View, asked: ListShares, after: SharePosition | null): Entry[] {
  const { account } = asked;
  const behind = ({ name: share, kind, stamp }: SharePosition) =>
    keyAfter(
      kind === DELETED
        ? deletedShareKey({ account, share }, stamp)
        : key(SPACE.deletedShare, account, share),
    );
  const first = after === null ? key(SPACE.deletedShare, account) : behind(after);
  return entriesOf(view, SPACE.deletedShare, asked, first, BODY_DELETED_MAX);
}

/** Whether more entries may follow. */
function isCut(entries: readonly Entry[], limit: number): boolean {
  let bytes = 0;
  for (const { key, value } of entries) bytes += key.length + value.length;
  return entries.length >= limit || bytes >= BODY_BYTES_MAX;
}

function ordinally(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function entriesOf(
  view: View,
  space: Space,
  asked: ListShares,
  first: Bytes,
  limit: number,
): Entry[] {
  const prefix = keyOfTextPrefix(space, [asked.account], asked.prefix);
  const from = first.compare(prefix) > 0 ? first : prefix;
  const until = keyAfter(prefix);
  return from.compare(until) < 0
    ? view.range(from, until, { limit, bytesMax: BODY_BYTES_MAX, skipsDamaged: true })
    : [];
}

function listedLive(
  view: View,
  asked: ListShares,
  { name, share }: { name: string; share: Share },
): ListedShare[] {
  const now = view.now();
  const snapshots = asked.snapshots ? snapshotsOf(view, share.id) : [];
  const lease = leaseStatus(share.lease, now);
  const tier = tierStatus(share, now);
  return [
    ...snapshots.map(({ stamp, name: shown, snapshot }) => ({
      name,
      kind: SNAPSHOT,
      stamp,
      share,
      revision: snapshot,
      snapshot: shown,
      deleted: null,
      lease: leaseStatus(snapshot.lease, now),
      tier,
    })),
    {
      name,
      kind: SHARE,
      stamp: 0n,
      share,
      revision: share,
      snapshot: null,
      deleted: null,
      lease,
      tier,
    },
  ];
}

function listedDeleted(
  view: View,
  { name, version, deleted }: ReturnType<typeof deletedShareOfEntry>,
): ListedShare[] {
  const now = view.now();
  const deletion = deletionOf(deleted, now);
  if (deletion === null) return [];
  const { share } = deleted;
  const lease = leaseStatus(null, now);
  const item = { name, kind: DELETED, stamp: version, share, revision: share, snapshot: null };
  return [{ ...item, deleted: deletion, lease, tier: tierStatus(share, now) }];
}

function isBehind(one: SharePosition, other: SharePosition): boolean {
  if (one.name !== other.name) return one.name > other.name;
  return one.kind === other.kind ? one.stamp > other.stamp : one.kind > other.kind;
}
