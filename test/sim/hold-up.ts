import type { Store } from "../../src/store/store.ts";
import type { Random } from "./random.ts";

const TURNS_MAX = 4;

/**
 * Delays every body a little, as on a busy machine. So other operations come between the steps of
 * an operation, however fast the engine is.
 */
export function holdUp(store: Store, random: Random): void {
  const read = store.read.bind(store);
  const transact = store.transact.bind(store);
  const wait = async () => {
    for (let turns = random.below(TURNS_MAX); turns > 0; turns--) {
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
