import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { alignedBytesAt } from "../../machine/aligned-bytes.ts";
import { bytesOnDisk, sumsOf } from "./extent-chunks.ts";
import { type Chunks, SumQueue } from "./sum-queue.ts";

/** Less urgent than the main thread: where it woke us up, it should go on itself, if one has to wait. */
const PRIORITY = 4;
// Elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(0, PRIORITY);

/** The thread behind `SumThread`. */
const queue = new SumQueue(workerData.queue);
const compute = ({ place, length, chunkBytes }: Chunks) =>
  sumsOf(alignedBytesAt(place, bytesOnDisk(length, chunkBytes)), length, chunkBytes);

for (;;) {
  while (queue.computeNext(compute));
  queue.sleep();
}
