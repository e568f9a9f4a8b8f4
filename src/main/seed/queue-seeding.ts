import { OWNER } from "../../rules/access.ts";
import type { QueueContext } from "../../service/queue/context.ts";
import { createFilledQueue } from "../../service/queue/create-filled-queue.ts";
import { type Queue, readQueue } from "../../service/queue/records.ts";
import { setQueueAcl } from "../../service/queue/set-queue-acl.ts";
import { setQueueMetadata } from "../../service/queue/set-queue-metadata.ts";
import { isWanted } from "./same.ts";
import type { QueueSeed } from "./seed-document.ts";

/** Makes queues with their first messages. A queue that exists gets no messages. */
export class QueueSeeding {
  readonly #context: QueueContext;
  readonly #account: string;

  constructor(context: QueueContext, account: string) {
    this.#context = context;
    this.#account = account;
  }

  async *seed({ name, metadata, policies, messages }: QueueSeed): AsyncGenerator<boolean> {
    const at = { account: this.#account, queue: name };
    const asked = { at, access: OWNER };
    const terms = { at, metadata: metadata ?? [], messages };
    const isNew = await createFilledQueue(this.#context, terms);
    const old = (await this.#context.store.read((view) => readQueue(view, at))) as Queue;
    const isOther = isWanted(metadata, old.metadata);
    if (isOther) await setQueueMetadata(this.#context, { ...asked, metadata });
    const hasOthers = isWanted(policies, old.policies);
    if (hasOthers) await setQueueAcl(this.#context, { ...asked, policies });
    yield isNew || isOther || hasOthers;
  }
}
