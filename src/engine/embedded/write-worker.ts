import { writev } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { alignedBytesAt } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { crc64Remainder } from "../../base/crc64.ts";
import { bytesOnDisk, chunksIn, sealChunks } from "./extent-chunks.ts";
import { NUMBERS_PER_BATCH, type WriteAnswer, type WriteAsked } from "./write-threads.ts";

/** Less urgent than the main thread: where it woke us up, it should go on itself, if one has to wait. */
const PRIORITY = 4;
// Elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(0, PRIORITY);

/** What was asked first is answered first. */
let last: Promise<void> = Promise.resolve();

/** The thread behind `WriteThreads`. */
parentPort?.on("message", (asked: WriteAsked) => {
  last = last.then(async () => parentPort?.postMessage(await answerTo(asked)));
});

/** Bytes get their CRC-64 while the disk takes them: nobody waits for both. */
async function answerTo({ fd, extent, position, batches }: WriteAsked): Promise<WriteAnswer> {
  const pages: Bytes[] = [];
  const digested: Batch[] = [];
  for (let at = 0; at < batches.length; at += NUMBERS_PER_BATCH) {
    const batch = batchOf(batches.slice(at, at + NUMBERS_PER_BATCH) as Numbers);
    if (batch.crc64) seal(batch, extent);
    pages.push(batch.pages);
    digested.push(batch);
  }
  const written = writeAll(fd, pages, position);
  const remainders = digested.map((batch) => (batch.crc64 ? remainderOf(batch) : 0n));
  const failure = await written;
  return failure === null ? { remainders } : { message: failure.message, code: failure.code };
}

type Numbers = [place: number, length: number, chunkBytes: number, crc64: number];

interface Batch {
  readonly pages: Bytes;
  readonly length: number;
  readonly chunkBytes: number;
  readonly crc64: boolean;
}

function batchOf([place, length, chunkBytes, crc64]: Numbers): Batch {
  const pages = alignedBytesAt(place, bytesOnDisk(length));
  return { pages, length, chunkBytes, crc64: crc64 === 1 };
}

function seal({ pages, length, chunkBytes }: Batch, extent: number): void {
  sealChunks(pages, length, chunkBytes, extent);
}

function remainderOf({ pages, length, chunkBytes }: Batch): bigint {
  let remainder = 0n;
  for (const chunk of chunksIn(pages, length, chunkBytes)) {
    remainder = crc64Remainder(chunk, remainder);
  }
  return remainder;
}

/** Null once all is written, or else why it is not. */
function writeAll(
  fd: number,
  parts: readonly Bytes[],
  position: number,
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    writev(fd, parts, position, (error, bytes) => {
      const rest = error === null ? behind(parts, bytes) : [];
      resolve(rest.length === 0 ? error : writeAll(fd, rest, position + bytes));
    });
  });
}

/** What is left of some buffers when their first bytes are done with. */
function behind(parts: readonly Bytes[], bytes: number): readonly Bytes[] {
  let done = 0;
  for (const [index, part] of parts.entries()) {
    if (done + part.length > bytes) {
      return [part.subarray(bytes - done), ...parts.slice(index + 1)];
    }
    done += part.length;
  }
  return [];
}
