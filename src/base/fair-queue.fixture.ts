import { fairQueue } from "./fair-queue.ts";

/** How often this work offered to wait for others. It has to wait each time, whatever it has spent. */
export async function slicesDuring(work: () => Promise<unknown>): Promise<number> {
  let slices = 0;
  const own = Object.getOwnPropertyDescriptor(fairQueue, "next");
  fairQueue.next = () => {
    slices++;
    return new Promise((resolve) => setImmediate(resolve));
  };
  try {
    await work();
  } finally {
    if (own === undefined) Reflect.deleteProperty(fairQueue, "next");
    else Object.defineProperty(fairQueue, "next", own);
  }
  return slices;
}
