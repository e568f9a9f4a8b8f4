import type { Body } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import {
  type Extents,
  type ExtentWrites,
  NO_TAPS,
  type Taps,
  type Written,
} from "../store/extents.ts";
import { StoreError } from "../store/store.ts";

/** Extent writes with a limit: refuses a body as "full" if the extents would exceed it. */
export class LimitedWrites implements ExtentWrites {
  readonly #extents: Extents;
  readonly #bytesMax: number;
  #arrivingBytes = 0;

  constructor(extents: Extents, bytesMax: number) {
    this.#extents = extents;
    this.#bytesMax = bytesMax;
  }

  async write(body: Body, look: Taps = NO_TAPS): Promise<Written> {
    const stored = this.#extents.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
    if (stored + this.#arrivingBytes + body.length > this.#bytesMax) {
      const mib = Math.floor(this.#bytesMax / MIB);
      throw new StoreError("full", `the ${mib} MiB of --extentMemoryLimit are used up`);
    }
    this.#arrivingBytes += body.length;
    try {
      return await this.#extents.write(body, look);
    } finally {
      this.#arrivingBytes -= body.length;
    }
  }
}
