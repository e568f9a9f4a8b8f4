import { fairQueue } from "./fair-queue.ts";

/** Counts how often work asks the fair queue, and makes it wait each time. */
export async function slicesDuring(work: () => Promise<unknown>): Promise<number> {
  let slices = 0;
  const wait = () => {
    slices++;
    return new Promise<void>((resolve) => setImmediate(resolve));
  };
  const own = Object.getOwnPropertyDescriptors(fairQueue);
  Object.assign(fairQueue, { next: wait, yield: wait });
  try {
    await work();
  } finally {
    for (const name of ["next", "yield"]) Reflect.deleteProperty(fairQueue, name);
    Object.defineProperties(fairQueue, own);
  }
  return slices;
}
