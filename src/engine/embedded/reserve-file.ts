import { randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { MIB } from "../../base/limits.ts";

const STEP_BYTES = MIB;
/** What `stat` counts allocated space in. */
const BLOCK_BYTES = 512;

/**
 * A file that does nothing but occupy space, so that there is some to give up when the disk is full.
 * It is filled with random bytes: file systems that compress would store zeros in no space at all.
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

  /** Somebody in need of space may have deleted it, or made it shorter. */
  async lookAgain(): Promise<void> {
    const found = await stat(this.#path).catch(nullIfMissing);
    this.#bytes = Math.min(this.#bytes, found?.size ?? 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Rejects if the disk has no room for that; what was allocated until then is kept. */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.#bytes) return;
    const file = await open(this.#path, "a", 0o600);
    try {
      // Cuts off what a power cut left without space.
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

  /** Resolves once the space can be used: a journal may hold on to it until it is synced. */
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
