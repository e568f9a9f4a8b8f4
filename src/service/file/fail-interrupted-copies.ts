import type { View } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import { endCopy } from "./fetch-copy.ts";
import { readPendingCopies } from "./pending-copies.ts";

const COPIES_PER_STEP = 64;

/**
 * Marks copies that were pending when the server stopped as failed: the credentials for their
 * sources are not stored. `runs` tells of front ends whose copies go on. Called before a new copy
 * can begin at any other.
 */
export async function failInterruptedCopies(
  context: FileContext,
  runs: (view: View, frontEnd: number) => boolean = () => false,
): Promise<void> {
  const description = '500 InternalError "The server stopped before the copy ended."';
  for (let after = ""; ; ) {
    const last = after;
    const found = await context.store.read((view) =>
      readPendingCopies(view, COPIES_PER_STEP, last).map(([copyId, { frontEnd }]) => ({
        copyId,
        goesOn: runs(view, frontEnd),
      })),
    );
    if (found.length === 0) return;
    for (const { copyId, goesOn } of found) {
      after = copyId;
      if (goesOn) continue;
      await endCopy(context, copyId, { status: "failed", description });
    }
  }
}
