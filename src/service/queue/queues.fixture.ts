import { ManualClock } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { OWNER } from "../../rules/access.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { QueueContext } from "./context.ts";
import { createQueue } from "./create-queue.ts";
import { type GotMessage, getMessages } from "./get-messages.ts";
import { putMessage } from "./put-message.ts";
import { QueueSweep } from "./sweep.ts";

/** A queue in its own store, with short methods for tests. */
export class Queues {
  readonly clock = new ManualClock(1_700_000_000_000);
  readonly store = new ForgettingStore(new MemoryStore(this.clock));
  readonly context: QueueContext = { store: this.store };
  readonly asked = { at: { account: "account", queue: "queue" }, access: OWNER };

  static async open(): Promise<Queues> {
    const queues = new Queues();
    await queues.create();
    return queues;
  }

  create(): Promise<boolean> {
    return createQueue(this.context, { ...this.asked, metadata: [] });
  }

  async put(
    count: number,
    lifeMs: number | null = null,
    hiddenMs = 0,
    context = this.context,
  ): Promise<void> {
    for (let at = 0; at < count; at++) {
      await putMessage(context, { ...this.asked, text: `text ${at}`, hiddenMs, lifeMs });
    }
  }

  get(messagesMax = 1, hiddenMs = 30_000): Promise<readonly GotMessage[]> {
    return getMessages(this.context, { ...this.asked, messagesMax, hiddenMs });
  }

  /** Sweeps until there is nothing left to do. */
  async sweep(): Promise<void> {
    const sweep = new QueueSweep(this.context);
    while (await sweep.sweep());
  }

  /** Counts all records except those of the queues themselves. */
  async recordsOfMessages(): Promise<number> {
    const from = keyAfter(key(SPACE.queue));
    const until = keyAfter(key(SPACE.doomedQueue));
    return this.store.read((view) => view.range(from, until, { limit: 1_000_000 }).length);
  }
}
