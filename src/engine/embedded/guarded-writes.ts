import type { Body } from "../../base/bytes.ts";
import {
  type Extents,
  type ExtentWrites,
  NO_TAPS,
  type Taps,
  type Written,
} from "../../store/extents.ts";
import { isFullError } from "../../store/store.ts";
import { fullError } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";

/**
 * Extent writes of clients. While the disk's reserve is not whole they are refused at once: they
 * would take the space that it needs, and their records would be refused anyway.
 */
export class GuardedWrites implements ExtentWrites {
  readonly #extents: Extents;
  readonly #space: DiskSpace;

  constructor(extents: Extents, space: DiskSpace) {
    this.#extents = extents;
    this.#space = space;
  }

  async write(body: Body, taps: Taps = NO_TAPS): Promise<Written> {
    if (!this.#space.mayGrow && !(await this.#space.hasSpaceAgain())) throw fullError();
    try {
      return await this.#extents.write(body, taps);
    } catch (error) {
      if (isFullError(error)) this.#space.noteFull();
      throw error;
    }
  }
}
