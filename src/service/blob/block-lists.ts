import { fairQueue } from "../../base/fair-queue.ts";
import type { Content, Contents, Part } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";
import type { BlobContext } from "./context.ts";
import { type Blob, type Container, readStagedBlocks, type StagedBlob } from "./records.ts";

/** A name and what stands under it: a blob, or uncommitted blocks, or both. */
export interface Seen {
  readonly container: Container;
  readonly old: Blob | null;
  readonly staged: StagedBlob | null;
}

/** The blocks under a name, all as they were at one moment. */
export interface BlockLists {
  readonly seen: Seen;
  /** In the order in which they make up the blob. */
  readonly committed: readonly Part[];
  /** In the order of their ids. */
  readonly uncommitted: readonly (readonly [id: string, content: Content])[];
}

/** Blocks that are read in one body: what takes longer would hold up everybody else. */
export const PAGE_BLOCKS = 2_000;
/** A writer that is always faster must not keep a reader going round for ever. */
const LOOKS_MAX = 3;

/**
 * Reads the blocks in pages, beginning anew if they change meanwhile; null if they never stand
 * still. Then, and only then, the caller reads them in one body.
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

/** Reads the blocks in one body, however fast they change; null if there are more than so many. */
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

/** Every write restamps its blob, and every block its staged blob: these two tell it all. */
export function hasMoved(before: Seen, now: Seen): boolean {
  return before.old?.etag !== now.old?.etag || before.staged?.changed !== now.staged?.changed;
}

async function lookOnce(
  context: BlobContext,
  look: (view: View) => Seen,
): Promise<BlockLists | null> {
  let first: Seen | null = null;
  const committed: Part[] = [];
  const uncommitted: [string, Content][] = [];
  for (;;) {
    await fairQueue.next();
    const page = await context.store.read((view) => {
      const seen = look(view);
      if (first !== null && hasMoved(first, seen)) return null;
      const after = uncommitted.at(-1)?.[0] ?? null;
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

/** Committed blocks first, then the others, from where the pages before have ended. */
function readPage(
  view: View,
  contents: Contents,
  seen: Seen,
  skip: number,
  after: string | null,
  limit: number,
): { committed: Part[]; uncommitted: [string, Content][] } {
  const { old, staged } = seen;
  const committed = old === null ? [] : contents.partsOf(view, old.content, skip, limit);
  const rest = limit - committed.length;
  const uncommitted = staged === null ? [] : readStagedBlocks(view, staged, after, rest);
  return { committed, uncommitted };
}
