import type { Bytes } from "../../base/bytes.ts";

/** Groups on their way to the disk at one time. What comes meanwhile makes up the next ones. */
const GROUPS_MAX = 2;
/** Less would have a pool of threads, and a virtual disk, woken up more often for a long body. */
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** Writes buffers one behind the other. */
type Write = (parts: readonly Bytes[], position: number, durably: boolean) => Promise<void>;

/** What came of a write. No promise: there is one for many. */
export interface Completion {
  written(): void;
  failed(error: unknown): void;
}

/**
 * Writes to one file. Those that are next to each other in it, and come in the same turn of the event
 * loop or while others are written, go together: small bodies of many clients cost a disk less that
 * way, and ourselves, too.
 */
export class WriteQueue {
  readonly #write: Write;
  readonly #waiting: QueuedWrite[] = [];
  #groups = 0;
  #isAwake = false;
  /** Whether the next group should be one that is to be durable. */
  #isDurableNext = true;

  /** `write` syncs them, too, if they are to be durable. */
  constructor(write: Write) {
    this.#write = write;
  }

  /** The bytes must not change until it settles. Fails alone, even if it went with others. */
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
 * Takes the write that waits for longest, and those that follow it in the file. Those that are to be
 * durable and those that are not go by turns: the first are small bodies, the others bits of large
 * ones, and a small body should not have to wait for all that large ones have sent.
 */
function nextGroup(waiting: QueuedWrite[], durably: boolean): QueuedWrite[] {
  const longest = waiting.findIndex((queued) => queued.durably === durably);
  const [first] = waiting.splice(Math.max(longest, 0), 1) as [QueuedWrite];
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
