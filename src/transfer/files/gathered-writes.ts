import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { alignedBytes, freeAlignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { Sha256Job } from "../../machine/sha256-thread.ts";

/** Short writes are gathered: each call costs about as much as writing a few KiB. */
const GATHERED_BYTES = 512 * KIB;
const ZEROS = Buffer.alloc(PAGE_BYTES);

/**
 * Writes that stand one behind the other in a file that is open for writing and reading. They go out
 * as whole pages, as direct I/O needs it; one buffer is written while the next one fills. Everything
 * is there after `finish`; `close` frees the memory.
 */
export class GatheredWrites {
  readonly #file: FileHandle;
  #buffer = alignedBytes(GATHERED_BYTES);
  /** The buffer that is being written, or the next one. */
  #other = alignedBytes(GATHERED_BYTES);
  /** Where the buffer begins in the file: at a page. */
  #start = 0;
  #gatheredBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  /** The body that is being written, if a thread computes its digest. */
  #digest: Sha256Job | null = null;
  /** Where its bytes begin in the buffer. */
  #digestFrom = 0;
  /** The thread has read what it was shown before. */
  #digesting: Promise<void> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Where the next write goes. */
  get end(): number {
    return this.#start + this.#gatheredBytes;
  }

  async write(bytes: Bytes): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += this.#gather(bytes, at);
      if (this.#gatheredBytes === GATHERED_BYTES) await this.#send();
    }
  }

  /** Writes a body, which a thread reads where it is gathered. Returns its SHA-256. */
  async writeBody(body: AsyncIterable<Bytes>, digest: Sha256Job): Promise<string> {
    this.#digest = digest;
    this.#digestFrom = this.#gatheredBytes;
    try {
      for await (const part of body) await this.write(part);
      const last = digest.digest(this.#undigested());
      this.#digesting = last.then(
        () => {},
        () => {},
      );
      return await last;
    } catch (error) {
      digest.abandon();
      throw error;
    } finally {
      this.#digest = null;
    }
  }

  /** Goes on further behind. Whole pages in between are not written. */
  async skipTo(end: number): Promise<void> {
    const nextPage = pageBehind(this.end);
    await this.write(ZEROS.subarray(0, Math.min(end, nextPage) - this.end));
    if (end <= nextPage) return;
    await this.#send();
    this.#start = pageBefore(end);
    await this.write(ZEROS.subarray(0, end - this.#start));
  }

  /** Takes back what was written behind a place; the file may have it until `finish`. */
  async rewindTo(end: number): Promise<void> {
    if (end < this.#start) {
      await this.#writing;
      const start = pageBefore(end);
      // The page at the new end goes out again when it is full.
      await this.#file.read(this.#buffer, 0, PAGE_BYTES, start);
      this.#start = start;
    }
    this.#gatheredBytes = end - this.#start;
  }

  /** Ends the file here, or at a later place that nothing was written to. */
  async finish(bytes = this.end): Promise<void> {
    const { end } = this;
    await this.write(ZEROS.subarray(0, pageBehind(end) - end));
    await this.#send();
    await this.#writing;
    await this.#file.truncate(bytes);
  }

  /** Waits for what is being written, whose errors `finish` has thrown. */
  async close(): Promise<void> {
    await this.#writing.catch(() => {});
    freeAlignedBytes(this.#buffer);
    freeAlignedBytes(this.#other);
  }

  /** Copies as much as there is room for, and returns how much. */
  #gather(bytes: Bytes, from: number): number {
    const at = this.#gatheredBytes;
    const count = Math.min(bytes.length - from, GATHERED_BYTES - at);
    // `fill` is as fast as `copy` is for memory that threads do not share.
    this.#buffer.fill(bytes.subarray(from, from + count), at, at + count);
    this.#gatheredBytes += count;
    return count;
  }

  #undigested(): Bytes {
    return this.#buffer.subarray(this.#digestFrom, this.#gatheredBytes);
  }

  /** Begins to write the buffer, which has whole pages. */
  async #send(): Promise<void> {
    await this.#writing;
    await this.#digesting;
    if (this.#digest !== null) {
      this.#digesting = this.#digest.update(this.#undigested());
      this.#digesting.catch(() => {});
      this.#digestFrom = 0;
    }
    const [full, bytes, start] = [this.#buffer, this.#gatheredBytes, this.#start];
    this.#buffer = this.#other;
    this.#other = full;
    this.#start += bytes;
    this.#gatheredBytes = 0;
    this.#writing = writeAt(this.#file, full.subarray(0, bytes), start);
    // The next call learns of a failure.
    this.#writing.catch(() => {});
  }
}

function pageBefore(at: number): number {
  return at - (at % PAGE_BYTES);
}

function pageBehind(at: number): number {
  return pageBefore(at + PAGE_BYTES - 1);
}

/** The system may take fewer bytes than it is given, and names the error at the next write. */
async function writeAt(file: FileHandle, bytes: Bytes, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}
