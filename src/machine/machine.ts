import { Md5Batches } from "./md5-batches.ts";
import { Md5Thread } from "./md5-thread.ts";
import { HEAP, Slabs } from "./slabs.ts";

/**
 * The threads and pools of one server. `main` makes it, passes it down, and closes it last. Servers
 * in one process share none of it, so that none can exhaust or end what another one uses. Making it
 * is cheap: threads start and memory is allocated at their first use.
 *
 * What belongs to the process instead is listed, with reasons, in `tools/tidy/state.ts`.
 */
export class Machine {
  readonly md5Thread = new Md5Thread();
  readonly md5Batches = new Md5Batches();
  readonly #pools: Slabs[] = [];
  readonly #ends: (() => void | Promise<void>)[] = [];

  /** A pool of slabs that ends with this machine. */
  slabs(bytes: number, idleMax = Number.POSITIVE_INFINITY, memory = HEAP): Slabs {
    const slabs = new Slabs(bytes, idleMax, memory);
    this.#pools.push(slabs);
    this.onClose(() => slabs.close());
    return slabs;
  }

  /** Bytes of all slabs that somebody uses now. */
  get slabBytesTaken(): number {
    return this.#pools.reduce((sum, { taken, bytes }) => sum + taken * bytes, 0);
  }

  /** Registers the end of a thread or pool. */
  onClose(end: () => void | Promise<void>): void {
    this.#ends.push(end);
  }

  /** Ends the threads and frees all memory that nobody uses; the rest is freed when released. */
  async close(): Promise<void> {
    await this.md5Thread.close();
    this.md5Batches.close();
    for (const end of this.#ends.splice(0)) await end();
  }
}
