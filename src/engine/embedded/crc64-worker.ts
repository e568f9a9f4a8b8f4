import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { alignedBytesAt } from "../../base/aligned-bytes.ts";
import { type Chunks, Crc64Queue } from "./crc64-queue.ts";
import { bytesOnDisk, remainderOf } from "./extent-chunks.ts";

/** Less urgent than the main thread: where it woke us up, it should go on itself, if one has to wait. */
const PRIORITY = 4;
// Elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(0, PRIORITY);

/** The thread behind `Crc64Thread`. */
const queue = new Crc64Queue(workerData.queue);
const compute = ({ place, length, chunkBytes }: Chunks) =>
  remainderOf(alignedBytesAt(place, bytesOnDisk(length)), length, chunkBytes);

for (;;) {
  while (queue.computeNext(compute));
  queue.sleep();
}
