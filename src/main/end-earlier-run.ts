import { failInterruptedCopies } from "../service/blob/fail-interrupted-copies.ts";
import { beginEpoch, clearHandles } from "../service/file/clear-handles.ts";
import { failInterruptedCopies as failInterruptedFileCopies } from "../service/file/fail-interrupted-copies.ts";
import { isFullError } from "../store/store.ts";
import type { Data } from "./open-data.ts";
import { StartError } from "./start-error.ts";

/**
 * Ends the SMB handles and copies of an earlier process. Returns the epoch of this process. The few
 * bytes it writes are reserved on a full disk; throws a `StartError` if other programs took them.
 */
export async function endEarlierRun(data: Data): Promise<bigint> {
  try {
    const epoch = await beginEpoch(data);
    await clearHandles(data, (_view, one) => one === epoch);
    await failInterruptedCopies(data);
    await failInterruptedFileCopies(data);
    return epoch;
  } catch (error) {
    if (!isFullError(error)) throw error;
    throw new StartError(
      "The data cannot be opened: other programs took the last space on its disk. " +
        "Free a few MiB, then start again.",
    );
  }
}
