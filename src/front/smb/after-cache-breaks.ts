import { CacheBreakNeeded } from "../../service/file/cache-break-needed.ts";
import type { Call } from "./call.ts";
import { STATUS, StatusError } from "./nt-status.ts";

/**
 * Runs an operation, and again after each break of client caches that it needs. The request is
 * pending meanwhile and can be cancelled. This is SMB's one catch of `CacheBreakNeeded`.
 */
export async function afterCacheBreaks<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
  const { breaks, store } = call.host.files;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof CacheBreakNeeded)) throw error;
      const isClear = await breaks.breakCaches(store, error, () => call.pend());
      if (!isClear) throw new StatusError(STATUS.CANCELLED);
    }
  }
}
