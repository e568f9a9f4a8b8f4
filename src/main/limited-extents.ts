import type { Body, Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import type { Address, ExtentInfo, Extents, Hold, Written } from "../store/extents.ts";
import { StoreError } from "../store/store.ts";

/** Extents that refuse a body as "full" if they would take more than so many bytes with it. */
export class LimitedExtents implements Extents {
  readonly #extents: Extents;
  readonly #bytesMax: number;
  #arrivingBytes = 0;

  constructor(extents: Extents, bytesMax: number) {
    this.#extents = extents;
    this.#bytesMax = bytesMax;
  }

  async write(body: Body): Promise<Written> {
    const stored = this.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
    if (stored + this.#arrivingBytes + body.length > this.#bytesMax) {
      const mib = Math.floor(this.#bytesMax / MIB);
      throw new StoreError("full", `the ${mib} MiB of --extentMemoryLimit are used up`);
    }
    this.#arrivingBytes += body.length;
    try {
      return await this.#extents.write(body);
    } finally {
      this.#arrivingBytes -= body.length;
    }
  }

  hold(extents: Iterable<number>): Hold {
    return this.#extents.hold(extents);
  }

  parts(at: Address, from: number, length: number): AsyncIterable<Bytes> {
    return this.#extents.parts(at, from, length);
  }

  list(): readonly ExtentInfo[] {
    return this.#extents.list();
  }

  seal(extent: number): void {
    this.#extents.seal(extent);
  }

  remove(extent: number): Promise<void> {
    return this.#extents.remove(extent);
  }

  close(): Promise<void> {
    return this.#extents.close();
  }
}
