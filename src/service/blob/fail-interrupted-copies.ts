import type { BlobContext } from "./context.ts";
import { endCopy } from "./fetch-copy.ts";
import { readPendingCopies } from "./records.ts";

const COPIES_PER_STEP = 64;

/**
 * Marks copies that a server stop interrupted as failed: they cannot resume because access to their
 * sources is not stored. Call it before a new copy can start.
 */
export async function failInterruptedCopies(context: Pick<BlobContext, "store">): Promise<void> {
  const description = '500 InternalError "The server stopped before the copy ended."';
  for (;;) {
    const found = await context.store.read((view) => readPendingCopies(view, COPIES_PER_STEP));
    if (found.length === 0) return;
    for (const [copyId, at] of found) {
      await endCopy(context, copyId, at, () => ({ status: "failed", description }));
    }
  }
}
