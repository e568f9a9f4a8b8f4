import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { key, keyAfter, keyOfTextPrefix, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type TierStatus, tierStatus } from "../../rules/tier.ts";
import type { View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import {
  type ListedKinds,
  type ListedRevision,
  ListedRevisions,
  type Passed,
} from "./listed-revisions.ts";
import { type Blob, type Container, CURRENT } from "./records.ts";

export interface ListBlobs extends ContainerAsked {
  readonly prefix: string;
  /** Names that are equal up to the delimiter (after the prefix) are one result; "" for none. */
  readonly delimiter: string;
  /** The first name to list. */
  readonly startFrom: string;
  /** The first name not to list; "" for no end. */
  readonly endBefore: string;
  /** Where the previous request's list ended. */
  readonly after: ListPosition | null;
  readonly resultsMax: number;
  readonly kinds: ListedKinds;
  /** Whether the caller needs the tags, which takes permission to read them. */
  readonly tags: boolean;
}

/**
 * A position after a name, after all names with a prefix, or after one revision of a name. It stays
 * valid when blobs change.
 */
export type ListPosition =
  | { readonly behind: "name" | "prefix"; readonly text: string }
  | { readonly behind: "revision"; readonly text: string; readonly stamp: Stamp };

/** A part of the list, in order. */
export interface ListedPage {
  readonly items: readonly ListedItem[];
  /** Where the list continues after these items; null if it is complete. */
  readonly next: ListPosition | null;
}

export type ListedItem = { readonly kind: "prefix"; readonly name: string } | ListedBlob;

/** A revision of a blob with its lease and tier at the time of the list. */
export interface ShownBlob extends Omit<ListedRevision, "entry" | "stamp"> {
  /** Null unless it is a current blob. */
  readonly lease: LeaseStatus | null;
  /** Null unless it is a block blob. */
  readonly tier: TierStatus | null;
}

/** A blob in a list. Usually only its rendered text is needed, which an earlier list has cached. */
export class ListedBlob {
  readonly kind = "blob";
  readonly #found: ListedRevision;
  readonly #nowMs: Instant;

  constructor(found: ListedRevision, nowMs: Instant) {
    this.#found = found;
    this.#nowMs = nowMs;
  }

  get name(): string {
    return this.#found.name;
  }

  get stamp(): Stamp {
    return this.#found.stamp;
  }

  shown(): ShownBlob {
    const { name, blob, revision, deleted, hasVersionsOnly } = this.#found;
    const isLeased = blob !== null && revision === null && deleted === null;
    const lease = isLeased ? leaseStatus(blob.lease, this.#nowMs) : null;
    const tier = blob?.type === "BlockBlob" ? tierStatus(blob.tier, this.#nowMs) : null;
    return { name, blob, revision, deleted, hasVersionsOnly, lease, tier };
  }

  /** What `render` returns for it. `render` must be pure: its output is cached. */
  text(render: (shown: ShownBlob) => string): Bytes {
    const { entry } = this.#found;
    const cached = entry?.textIn(render) ?? null;
    if (cached !== null) return cached;
    const shown = this.shown();
    const text = Buffer.from(render(shown), "utf8");
    const mayCache = entry !== null && shown.blob !== null && isLasting(shown.blob);
    return mayCache ? entry.cacheText(render, text) : text;
  }
}

/** Whether its text does not depend on the time. Leases and rehydrations end. */
function isLasting({ lease, tier }: Blob): boolean {
  return lease === null && (tier === null || tier.rehydration === null);
}

/**
 * Items per store read; each read sees one consistent state. Small pages are short-lived, which
 * saves more garbage collection than the extra reads cost.
 */
const PAGE_ITEMS_MAX = 250;
/** Empty pages per request. A list of few among many hidden revisions takes several requests. */
const EMPTY_PAGES_MAX = 100;

/** Yields the list page by page, so that only one page is in memory. Yields at least one page. */
export async function* listBlobs(
  context: BlobContext,
  asked: ListBlobs,
): AsyncGenerator<ListedPage> {
  let left = asked.resultsMax;
  let after = asked.after;
  let pageItems = PAGE_ITEMS_MAX;
  for (let empty = 0; empty < EMPTY_PAGES_MAX && left > 0; ) {
    const room = Math.min(left, pageItems);
    await fairQueue.next();
    const page = await context.store.read((view) => listPage(view, asked, after, room));
    yield page;
    left -= page.items.length;
    after = page.next;
    if (after === null) return;
    if (page.items.length === 0) empty++;
    // If items are large, the next store read does not read many more than it lists.
    else pageItems = Math.min(PAGE_ITEMS_MAX, 2 * page.items.length);
  }
}

function listPage(
  view: View,
  asked: ListBlobs,
  after: ListPosition | null,
  room: number,
): ListedPage {
  const container = admitToContainer(view, asked, BLOB_NEEDS.listBlobs);
  if (asked.tags) {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.getBlobTags, container, view.now()));
  }
  const revisions = new ListedRevisions(view, container, asked.kinds, {
    startOf: (space) => startOf(space, container, asked, after),
    endOf: (space) => endOf(space, container, asked),
    mayJump: asked.delimiter !== "",
  });
  const nowMs = view.now();
  const items: ListedItem[] = [];
  while (items.length < room) {
    if (revisions.isEnough && items.length > 0)
      return { items, next: positionBehind(items.at(-1)) };
    const head = revisions.head(room - items.length + 1);
    if (head === null) return { items, next: positionAt(revisions.stoppedAt) };
    const prefix = commonPrefix(head.name, asked);
    if (prefix === null) {
      items.push(new ListedBlob(head, nowMs));
      revisions.advance();
    } else {
      items.push({ kind: "prefix", name: prefix });
      revisions.jumpPast(prefix);
    }
  }
  const isEnd = revisions.head(1) === null && revisions.stoppedAt === null;
  return { items, next: isEnd ? null : positionBehind(items.at(-1)) };
}

function positionAt(passed: Passed | null): ListPosition | null {
  return passed && { behind: "revision", text: passed.name, stamp: passed.stamp };
}

function positionBehind(last: ListedItem | undefined): ListPosition | null {
  if (last === undefined) return null;
  const { kind, name: text } = last;
  if (kind === "prefix") return { behind: "prefix", text };
  return last.stamp === CURRENT
    ? { behind: "name", text }
    : { behind: "revision", text, stamp: last.stamp };
}

function commonPrefix(name: string, { prefix, delimiter }: ListBlobs): string | null {
  if (delimiter === "") return null;
  const at = name.indexOf(delimiter, prefix.length);
  return at < 0 ? null : name.slice(0, at + delimiter.length);
}

/** The greatest of the keys where the list may begin. */
function startOf(
  space: Space,
  { id }: Container,
  asked: ListBlobs,
  after: ListPosition | null,
): Bytes {
  const starts = [
    keyOfTextPrefix(space, [id], asked.prefix),
    keyOfTextPrefix(space, [id], asked.startFrom),
  ];
  if (after?.behind === "name") starts.push(keyAfter(key(space, id, after.text)));
  if (after?.behind === "revision") starts.push(keyAfter(key(space, id, after.text, after.stamp)));
  if (after?.behind === "prefix") starts.push(keyAfter(keyOfTextPrefix(space, [id], after.text)));
  return starts.reduce((last, start) => (start.compare(last) > 0 ? start : last));
}

/** The least of the keys where the list ends. */
function endOf(space: Space, { id }: Container, { prefix, endBefore }: ListBlobs): Bytes {
  const end = keyAfter(keyOfTextPrefix(space, [id], prefix));
  if (endBefore === "") return end;
  const before = keyOfTextPrefix(space, [id], endBefore);
  return before.compare(end) < 0 ? before : end;
}
