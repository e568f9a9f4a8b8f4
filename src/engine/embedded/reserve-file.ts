import { randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { MIB } from "../../base/limits.ts";

const STEP_BYTES = MIB;
/** The unit in which `stat` counts allocated space. */
const BLOCK_BYTES = 512;

/**
 * A file that only occupies space, which can be given up when the disk is full. It is filled with
 * random bytes, because a compressing file system stores zeros in no space at all.
 */
export class ReserveFile {
  readonly #path: string;
  #bytes: number;

  private constructor(path: string, bytes: number) {
    this.#path = path;
    this.#bytes = bytes;
  }

  static async open(path: string): Promise<ReserveFile> {
    const found = await stat(path).catch(nullIfMissing);
    if (found === null) return new ReserveFile(path, 0);
    // After a power cut a file may be longer than what was allocated for it.
    return new ReserveFile(path, Math.min(found.size, found.blocks * BLOCK_BYTES));
  }

  /** Looks up the size again: an operator may have deleted or truncated the file for space. */
  async lookAgain(): Promise<void> {
    const found = await stat(this.#path).catch(nullIfMissing);
    this.#bytes = Math.min(this.#bytes, found?.size ?? 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Rejects if the disk has no room; the file retains what was allocated until then. */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.#bytes) return;
    const file = await open(this.#path, "a", 0o600);
    try {
      // Removes a part that a power cut left unallocated.
      await file.truncate(this.#bytes);
      const noise = randomBytes(STEP_BYTES);
      while (this.#bytes < bytes) {
        const step = noise.subarray(0, Math.min(STEP_BYTES, bytes - this.#bytes));
        this.#bytes += (await file.write(step)).bytesWritten;
      }
    } finally {
      await file.close();
    }
  }

  /** Resolves once the space is usable: a journaling file system may free it only with a sync. */
  async shrinkTo(bytes: number): Promise<void> {
    await this.lookAgain();
    if (bytes >= this.#bytes) return;
    const file = await open(this.#path, "r+");
    try {
      await file.truncate(bytes);
      this.#bytes = bytes;
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
