import { Fault } from "../../base/fault.ts";
import type { Content, Part } from "../../store/contents.ts";
import type { BlockLists } from "./block-lists.ts";

/** A block as a client names it: its id, and in which list it is to be found. */
export interface BlockReference {
  readonly id: string;
  readonly from: "committed" | "uncommitted" | "latest";
}

/** What makes a list of blocks a blob. Every part needs one reference to its content. */
export interface BlockPlan {
  readonly parts: readonly Part[];
  /** Contents that need one reference more, each as often as it stands here. */
  readonly shares: readonly Content[];
  /** Contents that lose the reference which their uncommitted block held. */
  readonly drops: readonly Content[];
  /** Whether instead all uncommitted blocks give up their references, when they are swept. */
  readonly dropsStaged: boolean;
}

export function planBlocks(lists: BlockLists, wanted: readonly BlockReference[]): BlockPlan {
  const committed = new Map<string, Part>();
  for (const part of lists.committed) {
    if (!committed.has(part.name)) committed.set(part.name, part);
  }
  const uncommitted = new Map(lists.uncommitted);
  const parts: Part[] = [];
  const kept: Content[] = [];
  const staged: Content[] = [];
  for (const { id, from } of wanted) {
    const block = from === "committed" ? undefined : uncommitted.get(id);
    const part = from === "uncommitted" ? undefined : committed.get(id);
    if (block !== undefined) {
      parts.push({ content: block, from: 0, length: block.length, name: id });
      staged.push(block);
    } else if (part !== undefined) {
      parts.push(part);
      kept.push(part.content);
    } else {
      throw new Fault("InvalidBlockList", {
        BlockId: id,
        Reason: `There is no such ${from} block.`,
      });
    }
  }
  return { parts, ...planReferences(lists, kept, staged) };
}

/**
 * The old blob still holds its references, so every block kept of it needs one more. Uncommitted
 * blocks hand theirs over, and those that are not used lose them; unless few are used: then each
 * use takes a reference of its own, and the sweeper drops what the blocks themselves hold.
 */
function planReferences(
  lists: BlockLists,
  kept: Content[],
  staged: Content[],
): Omit<BlockPlan, "parts"> {
  const used = new Set<bigint>();
  const again: Content[] = [];
  for (const content of staged) {
    if (used.has(content.id)) again.push(content);
    used.add(content.id);
  }
  const unused = lists.uncommitted.length - used.size;
  if (unused > used.size) return { shares: [...kept, ...staged], drops: [], dropsStaged: true };
  const drops: Content[] = [];
  if (unused > 0) {
    for (const [, content] of lists.uncommitted) if (!used.has(content.id)) drops.push(content);
  }
  return { shares: [...kept, ...again], drops, dropsStaged: false };
}
