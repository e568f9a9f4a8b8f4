import { fairQueue } from "../../base/fair-queue.ts";
import type { Contents, Part } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import type { BlobContext } from "./context.ts";
import type { BlobPlace } from "./find-path.ts";
import { type Blob, type NamedBlock, readStagedBlocks, type StagedBlob } from "./records.ts";

/** What a blob name refers to: a blob, or uncommitted blocks, or both. */
export interface Seen {
  readonly place: BlobPlace;
  readonly old: Blob | null;
  readonly staged: StagedBlob | null;
}

/** The blocks under a name, all from one consistent state. */
export interface BlockLists {
  readonly seen: Seen;
  /** In the order in which they make up the blob. */
  readonly committed: readonly Part[];
  /** In the order of their ids. */
  readonly uncommitted: readonly NamedBlock[];
}

/** Blocks that one store read returns at most, because a long read delays all other requests. */
export const PAGE_BLOCKS = 2_000;
/** Attempts before giving up, so that a fast writer cannot keep a reader retrying forever. */
const LOOKS_MAX = 3;

/**
 * Reads the blocks in pages and starts over if they change meanwhile. Null if they changed on every
 * attempt: only then may the caller read them all at once.
 */
export async function lookAtBlocks(
  context: BlobContext,
  look: (view: View) => Seen,
): Promise<BlockLists | null> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const lists = await lookOnce(context, look);
    if (lists !== null) return lists;
  }
  return null;
}

/** Reads all blocks at once, so no write can interfere. Null if there are more than `blocksMax`. */
export function readBlockLists(
  view: View,
  contents: Contents,
  seen: Seen,
  blocksMax: number,
): BlockLists | null {
  const { committed, uncommitted } = readPage(view, contents, seen, 0, null, blocksMax + 1);
  if (committed.length + uncommitted.length > blocksMax) return null;
  return { seen, committed, uncommitted };
}

/** Every write changes the blob's ETag, and every staged block changes `changed`. */
export function hasMoved(before: Seen, now: Seen): boolean {
  return before.old?.etag !== now.old?.etag || before.staged?.changed !== now.staged?.changed;
}

async function lookOnce(
  context: BlobContext,
  look: (view: View) => Seen,
): Promise<BlockLists | null> {
  let first: Seen | null = null;
  const committed: Part[] = [];
  const uncommitted: NamedBlock[] = [];
  for (;;) {
    await fairQueue.next();
    const page = await context.store.read((view) => {
      const seen = look(view);
      if (first !== null && hasMoved(first, seen)) return null;
      const after = uncommitted.at(-1)?.id ?? null;
      const more = readPage(view, context.contents, seen, committed.length, after, PAGE_BLOCKS);
      return { seen, ...more };
    });
    if (page === null) return null;
    first ??= page.seen;
    committed.push(...page.committed);
    uncommitted.push(...page.uncommitted);
    if (page.committed.length + page.uncommitted.length < PAGE_BLOCKS) {
      return { seen: first, committed, uncommitted };
    }
  }
}

/** Reads the page after the earlier ones: committed blocks first, then uncommitted ones. */
function readPage(
  view: View,
  contents: Contents,
  seen: Seen,
  skip: number,
  after: string | null,
  limit: number,
): { committed: Part[]; uncommitted: NamedBlock[] } {
  const { old, staged } = seen;
  const committed = old === null ? [] : contents.partsOf(view, old.content, skip, limit);
  const rest = limit - committed.length;
  const uncommitted = staged === null ? [] : readStagedBlocks(view, staged, after, rest);
  return { committed, uncommitted };
}
