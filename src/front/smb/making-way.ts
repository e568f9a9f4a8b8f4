import { CachesInTheWay } from "../../service/file/caches-in-the-way.ts";
import type { Call } from "./call.ts";
import { STATUS, StatusError } from "./nt-status.ts";

/**
 * Tries something until nobody keeps anything that is in its way. The client hears that it takes
 * longer, and may take its request back.
 */
export async function makingWay<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
  const { breaks, store } = call.server.options.files;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof CachesInTheWay)) throw error;
      const isClear = await breaks.makeWay(store, error, () => call.pend());
      if (!isClear) throw new StatusError(STATUS.CANCELLED);
    }
  }
}
