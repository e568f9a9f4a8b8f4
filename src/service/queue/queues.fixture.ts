import type { AnyOf } from "../../base/any-of.fixture.ts";
import { ManualClock } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { OWNER } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";
import {
  type DataOptions,
  openServiceData,
  type ServiceData,
} from "../shared/service-data.fixture.ts";
import type { QueueContext } from "./context.ts";
import { createQueue } from "./create-queue.ts";
import { type GotMessage, getMessages } from "./get-messages.ts";
import { putMessage } from "./put-message.ts";
import { QueueSweep } from "./sweep.ts";

/** A queue in its own store, with short methods for tests. */
export class Queues {
  readonly clock: ManualClock;
  readonly #data: AnyOf<ServiceData>;
  readonly asked = { at: { account: "account", queue: "queue" }, access: OWNER };

  private constructor(clock: ManualClock, data: AnyOf<ServiceData>) {
    this.clock = clock;
    this.#data = data;
  }

  static async open(options?: DataOptions): Promise<Queues> {
    const queues = await Queues.openEmpty(options);
    await queues.create();
    return queues;
  }

  /** Without any queue. */
  static async openEmpty(options?: DataOptions): Promise<Queues> {
    const clock = new ManualClock(1_700_000_000_000);
    return new Queues(clock, await openServiceData(clock, options));
  }

  /** Of another front end at each use. */
  get context(): QueueContext {
    return { store: this.store };
  }

  get store(): Store {
    return this.#data.next().store;
  }

  create(): Promise<boolean> {
    return createQueue(this.context, { ...this.asked, metadata: [] });
  }

  async put(
    count: number,
    lifeMs: number | null = null,
    hiddenMs = 0,
    context?: QueueContext,
  ): Promise<void> {
    for (let at = 0; at < count; at++) {
      await putMessage(context ?? this.context, {
        ...this.asked,
        text: `text ${at}`,
        hiddenMs,
        lifeMs,
      });
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
