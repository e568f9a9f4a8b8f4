import type { Bytes } from "../../base/bytes.ts";
import type { Completion } from "../extent-io.ts";

/** Groups being written at a time. Writes that arrive meanwhile form the next ones. */
const GROUPS_MAX = 2;
/** Smaller groups cost more wake-ups of threads and of virtual disks. */
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** Writes buffers one behind the other, and syncs them if they are to be durable. */
type Write = (parts: readonly Bytes[], position: number, durably: boolean) => Promise<void>;

/**
 * Queues writes to one file. Adjacent writes that arrive in the same iteration of the event loop,
 * or while others are being written, are merged: that makes small bodies of many clients cheaper.
 */
export class WriteQueue {
  readonly #write: Write;
  readonly #waiting: QueuedWrite[] = [];
  #groups = 0;
  #isAwake = false;
  /** Whether the next group should be a durable one, if any waits. */
  #isDurableNext = true;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Pages must not change until the completion is called. A write fails alone, even if merged. */
  write(pages: Bytes, position: number, durably: boolean, completion: Completion): void {
    this.#waiting.push({ pages, position, durably, completion });
    this.#wake();
  }

  #wake(): void {
    if (this.#isAwake || this.#groups >= GROUPS_MAX) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      this.#go();
    });
  }

  #go(): void {
    while (this.#groups < GROUPS_MAX && this.#waiting.length > 0) {
      this.#groups++;
      const group = nextGroup(this.#waiting, this.#isDurableNext);
      this.#isDurableNext = group[0]?.durably === false;
      this.#writeGroup(group).finally(() => {
        this.#groups--;
        this.#go();
      });
    }
  }

  async #writeGroup(group: readonly QueuedWrite[]): Promise<void> {
    const [first, ...others] = group as [QueuedWrite, ...QueuedWrite[]];
    const parts = group.map(({ pages }) => pages);
    const durably = group.some((queued) => queued.durably);
    try {
      await this.#write(parts, first.position, durably);
    } catch (error) {
      if (others.length === 0) first.completion.failed(error);
      else for (const queued of group) await this.#writeGroup([queued]);
      return;
    }
    for (const { completion } of group) completion.written();
  }
}

interface QueuedWrite {
  readonly pages: Bytes;
  readonly position: number;
  readonly durably: boolean;
  readonly completion: Completion;
}

/**
 * Takes the oldest write, and those that follow it in the file. Durable writes (small bodies)
 * alternate with others (parts of large bodies), so that a small body does not wait for all that
 * large ones have sent.
 */
function nextGroup(waiting: QueuedWrite[], durably: boolean): QueuedWrite[] {
  const oldest = waiting.findIndex((queued) => queued.durably === durably);
  const [first] = waiting.splice(Math.max(oldest, 0), 1) as [QueuedWrite];
  const group = [first];
  let bytes = first.pages.length;
  for (let at = 0; at < waiting.length; ) {
    const next = waiting[at] as QueuedWrite;
    const follows = next.position === first.position + bytes;
    if (follows && bytes + next.pages.length <= GROUP_BYTES_MAX) {
      group.push(next);
      bytes += next.pages.length;
      waiting.splice(at, 1);
    } else {
      at++;
    }
  }
  return group;
}
