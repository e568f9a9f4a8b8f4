import { KIB, MIB } from "../../base/limits.ts";

/** The time of a shorter reading tells more about the way to the disk than about the disk. */
const TELLING_BYTES_MIN = 512 * KIB;
/** Through the system's cache, which means a copy, we are not much faster. */
const FAST_BYTES_PER_MS = 2 * MIB;

/**
 * Whether a disk is so fast that long stretches of it need no place in the system's cache. It is from
 * the first time on that it was: a server with much to do looks at its disk too late to find it fast
 * again.
 */
export class DiskPace {
  #isFast = false;

  get isFast(): boolean {
    return this.#isFast;
  }

  /** So many bytes came from the disk, past the cache, in so much time. */
  saw(bytes: number, ms: number): void {
    if (bytes >= TELLING_BYTES_MIN && bytes >= FAST_BYTES_PER_MS * ms) this.#isFast = true;
  }
}
