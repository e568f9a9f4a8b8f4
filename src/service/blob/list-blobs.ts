import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { key, keyAfter, keyOfTextPrefix, SPACE, type Space } from "../../base/keys.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import { EntryCursor } from "./entry-cursor.ts";
import { type Blob, type Container, decodeBlob, nameOfBlobKey } from "./records.ts";

export interface ListBlobs extends ContainerAsked {
  readonly prefix: string;
  /** Names that share what comes before it (behind the prefix) become one result; "" for none. */
  readonly delimiter: string;
  /** The first name that counts. */
  readonly startFrom: string;
  /** Where the list before ended. */
  readonly after: ListPosition | null;
  readonly resultsMax: number;
  /** Whether blobs that have nothing but uncommitted blocks are listed too. */
  readonly uncommitted: boolean;
}

/** Behind a name, or behind every name that begins so. It stays true whatever changes meanwhile. */
export interface ListPosition {
  readonly behind: "name" | "prefix";
  readonly text: string;
}

/** A part of the answer, in order. */
export interface ListedPage {
  readonly items: readonly ListedItem[];
  /** Where the list goes on behind these items; null if it does not. */
  readonly next: ListPosition | null;
}

export interface ListedItem {
  readonly kind: "blob" | "prefix" | "uncommitted";
  readonly name: string;
  /** These two are of blobs only. */
  readonly blob: Blob | null;
  readonly lease: LeaseStatus | null;
}

/**
 * A long list is several bodies: each sees one state. Few items at a time are soon forgotten again,
 * which spares the garbage collector more than the bodies cost.
 */
const PAGE_ITEMS_MAX = 250;

/** Page by page, so that no more than one of them has to be kept. There is always a first. */
export async function* listBlobs(
  context: BlobContext,
  asked: ListBlobs,
): AsyncGenerator<ListedPage> {
  let left = asked.resultsMax;
  let after = asked.after;
  do {
    const room = Math.min(left, PAGE_ITEMS_MAX);
    const page = await context.store.read((view) => listPage(view, asked, after, room));
    yield page;
    left -= page.items.length;
    after = page.next;
  } while (left > 0 && after !== null);
}

function listPage(
  view: View,
  asked: ListBlobs,
  after: ListPosition | null,
  room: number,
): ListedPage {
  const container = admitToContainer(view, asked, BLOB_NEEDS.listBlobs);
  const names = new ListedNames(view, container, asked, after);
  const now = view.now();
  const items: ListedItem[] = [];
  while (items.length < room) {
    const head = names.head(room - items.length + 1);
    if (head === null) return { items, next: null };
    const prefix = commonPrefix(head.name, asked);
    if (prefix === null) {
      items.push(listedItem(head, now));
      names.advance();
    } else {
      items.push({ kind: "prefix", name: prefix, blob: null, lease: null });
      names.jumpPast(prefix);
    }
  }
  return { items, next: names.head(1) === null ? null : positionBehind(items.at(-1)) };
}

function positionBehind(last: ListedItem | undefined): ListPosition | null {
  if (last === undefined) return null;
  return { behind: last.kind === "prefix" ? "prefix" : "name", text: last.name };
}

function commonPrefix(name: string, { prefix, delimiter }: ListBlobs): string | null {
  if (delimiter === "") return null;
  const at = name.indexOf(delimiter, prefix.length);
  return at < 0 ? null : name.slice(0, at + delimiter.length);
}

function listedItem({ name, record }: ListedName, now: Instant): ListedItem {
  if (record === null) return { kind: "uncommitted", name, blob: null, lease: null };
  const blob = decodeBlob(record);
  return { kind: "blob", name, blob, lease: leaseStatus(blob.lease, now) };
}

interface ListedName {
  readonly name: string;
  /** Null if nothing is committed. */
  readonly record: Bytes | null;
}

/** The names of a container in their order: those of blobs and, if asked for, of staged blobs. */
class ListedNames {
  readonly #container: Container;
  readonly #blobs: EntryCursor;
  readonly #staged: EntryCursor | null;
  #headIsStaged = false;

  constructor(view: View, container: Container, asked: ListBlobs, after: ListPosition | null) {
    this.#container = container;
    const cursor = (space: Space) => {
      const from = startOf(space, container, asked, after);
      const until = keyAfter(keyOfTextPrefix(space, [container.id], asked.prefix));
      return new EntryCursor(view, from, until, asked.delimiter !== "");
    };
    this.#blobs = cursor(SPACE.blob);
    this.#staged = asked.uncommitted ? cursor(SPACE.stagedBlob) : null;
  }

  /** No more than `most` will be used, this one included. */
  head(most: number): ListedName | null {
    const blob = this.#blobs.head(most);
    const name = blob === null ? null : nameOfBlobKey(blob.key);
    const staged = this.#stagedBefore(blob?.key ?? null, name, most);
    this.#headIsStaged = staged !== null;
    if (staged !== null) return { name: staged, record: null };
    return blob === null || name === null ? null : { name, record: blob.value };
  }

  advance(): void {
    if (this.#headIsStaged) this.#staged?.advance();
    else this.#blobs.advance();
  }

  jumpPast(prefix: string): void {
    this.#blobs.jumpPast(keyOfTextPrefix(SPACE.blob, [this.#container.id], prefix));
    this.#staged?.jumpPast(keyOfTextPrefix(SPACE.stagedBlob, [this.#container.id], prefix));
  }

  /** The next staged name, if it comes before the blob. Blocks beside a blob are not listed. */
  #stagedBefore(blobKey: Bytes | null, blobName: string | null, most: number): string | null {
    for (;;) {
      const staged = this.#staged?.head(most) ?? null;
      if (staged === null) return null;
      // Behind their first byte, which tells the kinds apart, both are ordered by the same parts.
      if (blobKey !== null && staged.key.subarray(1).compare(blobKey.subarray(1)) > 0) return null;
      const name = nameOfBlobKey(staged.key);
      if (name !== blobName) return name;
      this.#staged?.advance();
    }
  }
}

/** The last of the places where the list may begin. */
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
  if (after?.behind === "prefix") starts.push(keyAfter(keyOfTextPrefix(space, [id], after.text)));
  return starts.reduce((last, start) => (start.compare(last) > 0 ? start : last));
}
