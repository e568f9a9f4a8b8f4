import type { View } from "../../store/store.ts";
import type { BlobContext } from "./context.ts";
import { restorableContainers } from "./deleted-containers.ts";
import { endCopy } from "./fetch-copy.ts";
import { type PendingCopy, type Place, readContainer, readPendingCopies } from "./records.ts";

const COPIES_PER_STEP = 64;

/**
 * Marks copies that a server stop interrupted as failed: they cannot resume because access to their
 * sources is not stored. `runs` tells of front ends whose copies go on. Call it before a new copy
 * can start at any other.
 */
export async function failInterruptedCopies(
  context: Pick<BlobContext, "store">,
  runs: (view: View, frontEnd: number) => boolean = () => false,
): Promise<void> {
  const description = '500 InternalError "The server stopped before the copy ended."';
  for (let after = ""; ; ) {
    const last = after;
    const found = await context.store.read((view) =>
      readPendingCopies(view, COPIES_PER_STEP, last).map(([id, copy]) => ({
        id,
        places: runs(view, copy.frontEnd) ? null : placesOf(view, copy),
      })),
    );
    if (found.length === 0) return;
    for (const { id, places } of found) {
      after = id;
      if (places === null) continue;
      await endCopy(context, id, places, () => ({ status: "failed", description }));
    }
  }
}

/**
 * Older records have the target's address only. It may lie in a deleted container too: a restored
 * one must not have a copy pending forever.
 */
function placesOf(view: View, copy: PendingCopy): Place[] {
  if (copy.parent !== 0n) return [{ parent: { id: copy.parent }, name: copy.name }];
  const current = readContainer(view, copy);
  const containers = [...(current === null ? [] : [current]), ...restorableContainers(view, copy)];
  return containers.map((parent) => ({ parent, name: copy.blob }));
}
