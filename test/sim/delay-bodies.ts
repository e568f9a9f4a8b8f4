import type { Store } from "../../src/store/store.ts";
import type { Random } from "./random.ts";

const ITERATIONS_MAX = 4;

/**
 * Delays every body a little, as on a busy machine. So other operations come between the steps of
 * an operation, however fast the engine is.
 */
export function delayBodies(store: Store, random: Random): void {
  const read = store.read.bind(store);
  const transact = store.transact.bind(store);
  const wait = async () => {
    for (let iterations = random.below(ITERATIONS_MAX); iterations > 0; iterations--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  store.read = async (body) => {
    await wait();
    return read(body);
  };
  store.transact = async (body) => {
    await wait();
    return transact(body);
  };
}
