import type { FileContext } from "./context.ts";
import { endCopy } from "./fetch-copy.ts";
import { readPendingCopies } from "./pending-copies.ts";

const COPIES_PER_STEP = 64;

/**
 * Marks copies that were pending when the server stopped as failed: the credentials for their
 * sources are not stored. Called before a new copy can begin.
 */
export async function failInterruptedCopies(context: FileContext): Promise<void> {
  const description = '500 InternalError "The server stopped before the copy ended."';
  for (;;) {
    const found = await context.store.read((view) => readPendingCopies(view, COPIES_PER_STEP));
    if (found.length === 0) return;
    for (const [copyId] of found) {
      await endCopy(context, copyId, { status: "failed", description });
    }
  }
}
