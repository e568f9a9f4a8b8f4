import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";

/** Short writes are gathered: each call costs about as much as writing a few KiB. */
const GATHERED_BYTES = 512 * 1024;

/** Writes that stand one behind the other in a file. They are there after `flush`. */
export class GatheredWrites {
  readonly #file: FileHandle;
  /** The last bytes, which are not written yet. */
  readonly #gathered: Buffer;
  #gatheredBytes = 0;
  #end: number;

  /** Of a file that gets no more than `bytesMax`, which spares memory if they are few. */
  constructor(file: FileHandle, bytesMax = GATHERED_BYTES) {
    this.#file = file;
    this.#gathered = Buffer.allocUnsafe(Math.min(bytesMax, GATHERED_BYTES));
    this.#end = 0;
  }

  /** Where the next write goes. */
  get end(): number {
    return this.#end;
  }

  async write(bytes: Bytes): Promise<void> {
    const max = this.#gathered.length;
    if (this.#gatheredBytes + bytes.length > max) await this.flush();
    if (bytes.length > max) {
      await writeAt(this.#file, bytes, this.#end);
    } else {
      bytes.copy(this.#gathered, this.#gatheredBytes);
      this.#gatheredBytes += bytes.length;
    }
    this.#end += bytes.length;
  }

  /** Goes on further behind. Nothing is written in between. */
  async skipTo(end: number): Promise<void> {
    await this.flush();
    this.#end = end;
  }

  /** Takes back what was written behind a place; the file may have it until it is truncated. */
  rewindTo(end: number): void {
    const written = this.#end - this.#gatheredBytes;
    this.#end = end;
    this.#gatheredBytes = Math.max(0, end - written);
  }

  async flush(): Promise<void> {
    const bytes = this.#gathered.subarray(0, this.#gatheredBytes);
    await writeAt(this.#file, bytes, this.#end - bytes.length);
    this.#gatheredBytes = 0;
  }
}

/** The system may take fewer bytes than it is given, and names the error at the next write. */
async function writeAt(file: FileHandle, bytes: Bytes, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}
