import { fairQueue } from "./fair-queue.ts";

/** Counts how often work asks the fair queue; each time it has to wait, however little it has spent. */
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
