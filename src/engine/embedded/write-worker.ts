import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { alignedBytesAt } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { bytesOnDisk, sealWithCrc64 } from "./extent-chunks.ts";
import { writePartsSync } from "./write-parts.ts";
import { NUMBERS_PER_BATCH, type WriteAnswer, type WriteAsked } from "./write-threads.ts";

type Numbers = [place: number, length: number, chunkBytes: number, crc64: number];

/** Less urgent than the main thread: where it woke us up, it should go on itself, if one has to wait. */
const PRIORITY = 4;
// Elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(0, PRIORITY);

/** The thread behind `WriteThreads`. */
parentPort?.on("message", (asked: WriteAsked) => parentPort?.postMessage(answerTo(asked)));

function answerTo({ fd, extent, position, batches }: WriteAsked): WriteAnswer {
  const pages: Bytes[] = [];
  const remainders: bigint[] = [];
  for (let at = 0; at < batches.length; at += NUMBERS_PER_BATCH) {
    const [place, length, chunkBytes, crc64] = batches.slice(at, at + NUMBERS_PER_BATCH) as Numbers;
    const batch = alignedBytesAt(place, bytesOnDisk(length));
    pages.push(batch);
    remainders.push(crc64 === 1 ? sealWithCrc64(batch, length, chunkBytes, extent) : 0n);
  }
  try {
    writePartsSync(fd, pages, position);
    return { remainders };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { message, code };
  }
}
