import type { Bytes } from "../../base/bytes.ts";
import { atOnce, type Steps } from "../../base/fair-queue.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { judgeByKey } from "../../rules/encryption.ts";
import type { Content } from "../../store/content.ts";
import type { Part } from "../../store/contents.ts";
import type { BlockLists } from "./block-lists.ts";
import type { AskedEncryption } from "./context.ts";

/** A block as a client names it: its id, and the list to look it up in. */
export interface BlockReference {
  readonly id: string;
  readonly from: "committed" | "uncommitted" | "latest";
}

/** How a list of blocks becomes a blob. Every part needs one reference to its content. */
export interface BlockPlan {
  readonly parts: readonly Part[];
  /** The parts of the blob that is replaced. */
  readonly replaced: readonly Part[];
  /** Contents to add a reference to, one per occurrence. */
  readonly shares: readonly Content[];
  /** Contents that lose the reference of their uncommitted block. */
  readonly drops: readonly Content[];
  /** Whether the sweeper drops the references of all uncommitted blocks instead. */
  readonly dropsStaged: boolean;
}

/** An uncommitted block and how often the list uses it. */
interface Staged {
  readonly content: Content;
  readonly keySha256: Bytes | null;
  uses: number;
}

/** Blocks that are planned before the next yield. */
const STEP_BLOCKS = 5_000;

/** The blocks that a list names, which must be encrypted with its key, or not at all without one. */
export interface WantedBlocks extends AskedEncryption {
  readonly blocks: readonly BlockReference[];
}

export function planBlocks(lists: BlockLists, wanted: WantedBlocks): BlockPlan {
  return atOnce(planInSteps(lists, wanted));
}

/** Plans the blocks in steps, so that other requests can run in between. */
export function* planInSteps(
  lists: BlockLists,
  { blocks, key = null }: WantedBlocks,
): Steps<BlockPlan> {
  const committed = new Map<string, Part>();
  for (const [at, part] of lists.committed.entries()) {
    if (at % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
    if (!committed.has(part.name)) committed.set(part.name, part);
  }
  const uncommitted = new Map<string, Staged>();
  for (const [at, { id, content, keySha256 }] of lists.uncommitted.entries()) {
    if (at % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
    uncommitted.set(id, { content, keySha256, uses: 0 });
  }
  const parts: Part[] = [];
  const reused: Content[] = [];
  for (const [at, { id, from }] of blocks.entries()) {
    if (at % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
    const block = from === "committed" ? undefined : uncommitted.get(id);
    const part = from === "uncommitted" ? undefined : committed.get(id);
    if (block !== undefined) {
      refuse(judgeByKey(block.keySha256, key));
      block.uses++;
      parts.push({ content: block.content, from: 0, length: block.content.length, name: id });
    } else if (part !== undefined) {
      refuse(judgeByKey(lists.seen.old?.encryption?.keySha256 ?? null, key));
      parts.push(part);
      reused.push(part.content);
    } else {
      throw new Fault("InvalidBlockList", {
        BlockId: id,
        Reason: `There is no such ${from} block.`,
      });
    }
  }
  const references = planReferences(reused, [...uncommitted.values()]);
  return { parts, replaced: lists.committed, ...references };
}

/**
 * The old blob still has its references, so every block reused from it needs one more. Uncommitted
 * blocks hand theirs over, and unused ones lose them. If less than half of them are used, each use
 * takes a new reference instead, and the sweeper drops those of the blocks.
 */
function planReferences(
  reused: readonly Content[],
  blocks: readonly Staged[],
): Omit<BlockPlan, "parts" | "replaced"> {
  const used = blocks.filter(({ uses }) => uses > 0);
  const dropsStaged = used.length * 2 < blocks.length;
  const shares = [...reused];
  for (const { content, uses } of used) {
    for (let more = dropsStaged ? 0 : 1; more < uses; more++) shares.push(content);
  }
  const unused = dropsStaged ? [] : blocks.filter(({ uses }) => uses === 0);
  return { shares, drops: unused.map(({ content }) => content), dropsStaged };
}
