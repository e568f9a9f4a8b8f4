import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import { endHandle } from "./end-handle.ts";

/** Ends an open. What is to be deleted goes with the last handle. */
export async function closeHandle(context: FileContext, asked: HandleAsked): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, item, handle } = admitToHandle(tx, asked);
    endHandle(tx, context.contents, tree, item, asked.handle, handle);
  });
}
