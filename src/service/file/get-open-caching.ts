import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { readCache } from "./cache-records.ts";
import { type CachingGranted, grantedBy } from "./caches.ts";
import type { FileContext } from "./context.ts";

/** The caching that the client of a handle has now; null for none. */
export async function getOpenCaching(
  context: FileContext,
  asked: HandleAsked,
): Promise<CachingGranted | null> {
  return context.store.read((view) => {
    const { item, handle } = admitToHandle(view, asked);
    const cache = handle.cache.length === 0 ? null : readCache(view, item, handle.cache);
    return cache === null ? null : grantedBy(cache);
  });
}
