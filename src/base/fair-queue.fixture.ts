import { fairQueue } from "./fair-queue.ts";

/** How often this work offered to wait for others. It has to wait each time, whatever it has spent. */
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
