import { RestRefusal } from "./answer.ts";
import { ChangedError } from "./transfer-error.ts";

/** Learns of what a source leaves out, with the reason. */
export type OnLeftOut = (name: string, error: unknown) => void;

/** Gone; changed, or not to be read without a key of its own; changed since it was listed. */
const OWN_REFUSALS = [404, 409, 412];

/** Whether an error is about one object: the others can still be read. */
function isOfOneObject(error: unknown): boolean {
  if (error instanceof ChangedError) return true;
  return error instanceof RestRefusal && OWN_REFUSALS.includes(error.status);
}

/** Reads an object. Null if it has gone or cannot be read, which `onLeftOut` learns. */
export async function readOrLeaveOut<T>(
  name: string,
  onLeftOut: OnLeftOut,
  read: () => Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    onLeftOut(name, error);
    return null;
  }
}

/** What lies in an object, as far as it can be read. */
export async function* listOrLeaveOut<T>(
  name: string,
  onLeftOut: OnLeftOut,
  list: AsyncIterable<T>,
): AsyncGenerator<T> {
  try {
    yield* list;
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    onLeftOut(name, error);
  }
}
