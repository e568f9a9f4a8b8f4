import { CachesInTheWay } from "../../service/file/caches-in-the-way.ts";
import type { Call } from "./call.ts";
import { STATUS, StatusError } from "./nt-status.ts";

/**
 * Repeats an attempt until no oplock or lease of another client is in its way. Meanwhile the client
 * gets an interim response, and may cancel.
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
