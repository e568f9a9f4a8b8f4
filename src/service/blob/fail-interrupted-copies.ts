import type { BlobContext } from "./context.ts";
import { endCopy } from "./fetch-copy.ts";
import { readPendingCopies } from "./records.ts";

const COPIES_PER_STEP = 64;

/**
 * Copies that were under way when the server stopped have failed: what opened their sources is not
 * kept. To be called before anybody can begin a new one.
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
