import { Fault } from "../../base/fault.ts";

/** Whether two values of a record are the same. Null stands for one that a seed does not name. */
export function isWanted<T>(wanted: T | null, found: T): wanted is T {
  return wanted !== null && JSON.stringify(wanted) !== JSON.stringify(found);
}

/** What a read finds; null if the service refuses it, as it does for what is missing. */
export async function found<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
