import { KIB, MIB } from "../../base/limits.ts";

/** Shorter reads are not measured: their time is mostly overhead. */
const MEASURED_BYTES_MIN = 512 * KIB;
/** About the speed of reading through the page cache, which copies. */
const FAST_BYTES_PER_MS = 2 * MIB;

/**
 * Whether a disk is so fast that long reads need no place in the page cache. Once seen fast, a disk
 * stays fast: a busy server sees completed reads too late to measure a disk.
 */
export class DiskPace {
  #isFast = false;

  get isFast(): boolean {
    return this.#isFast;
  }

  /** Notes that a direct read of this many bytes took this long. */
  saw(bytes: number, ms: number): void {
    if (bytes >= MEASURED_BYTES_MIN && bytes >= FAST_BYTES_PER_MS * ms) this.#isFast = true;
  }
}
