import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { alignedBytesAt } from "../machine/aligned-bytes.ts";
import { bytesOnDisk, sumsOf } from "./extent-chunks.ts";
import { type Chunks, SumQueue } from "./sum-queue.ts";

/** Below the main thread's: if both compete for a core, the main thread goes on. */
const PRIORITY = 4;
try {
  // On other systems this would set the priority of the whole process.
  if (process.platform === "linux") setPriority(0, PRIORITY);
} catch {
  // Some sandboxes refuse the call. The thread then has the main thread's priority.
}

/** The thread behind `SumThread`. */
const queue = new SumQueue(workerData.queue);
const compute = ({ place, length, chunkBytes }: Chunks) =>
  sumsOf(alignedBytesAt(place, bytesOnDisk(length, chunkBytes)), length, chunkBytes);

for (;;) {
  while (queue.computeNext(compute));
  queue.sleep();
}
