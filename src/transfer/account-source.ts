import type { Choice } from "./choice.ts";
import { groupEntities } from "./entity-groups.ts";
import { type Item, SERVICE_KINDS, type Source } from "./item.ts";
import { listOrLeaveOut, type OnLeftOut } from "./left-out.ts";
import { readBlobs, readContainers } from "./read-blobs.ts";
import { listMessages, readMessages, readQueues } from "./read-queues.ts";
import { readShare, readShares } from "./read-shares.ts";
import { readEntities, readTables } from "./read-tables.ts";
import type { RestClient } from "./rest-client.ts";

/** An account, read through its API. */
export class AccountSource implements Source {
  readonly #client: RestClient;
  readonly #choice: Choice;
  readonly #onLeftOut: OnLeftOut;

  /** `onLeftOut` learns of what cannot be read, or is gone when its turn comes. */
  constructor(client: RestClient, choice: Choice, onLeftOut: OnLeftOut) {
    this.#client = client;
    this.#choice = choice;
    this.#onLeftOut = onLeftOut;
  }

  /** Unknown until everything is listed. */
  async survey(): Promise<null> {
    return null;
  }

  async *items(): AsyncGenerator<Item> {
    if (this.#choice.isEverything) yield* this.#services();
    if (this.#has("blob")) yield* this.#blobs();
    if (this.#has("queue")) yield* this.#queues();
    if (this.#has("table")) yield* this.#tables();
    if (this.#has("file")) yield* this.#shares();
  }

  async close(): Promise<void> {}

  #has(service: (typeof SERVICE_KINDS)[number]): boolean {
    return this.#client.has(service) && this.#choice.hasService(service);
  }

  #asFarAs<T>(name: string, list: AsyncIterable<T>): AsyncGenerator<T> {
    return listOrLeaveOut(name, this.#onLeftOut, list);
  }

  /** Emulators and a SAS for data do not permit to read the settings of some services. */
  async *#services(): AsyncGenerator<Item> {
    for (const service of SERVICE_KINDS.filter((one) => this.#client.has(one))) {
      const query = { restype: "service", comp: "properties" };
      const expects = [400, 403, 404, 501];
      const asked = { service, method: "GET", path: "", query, expects } as const;
      const { status, bytes } = await this.#client.request(asked);
      if (status === 200) yield { kind: "service", service, xml: bytes.toString("utf8") };
    }
  }

  async *#blobs(): AsyncGenerator<Item> {
    for await (const container of readContainers(this.#client, this.#onLeftOut)) {
      if (!this.#choice.hasItem(container)) continue;
      yield container;
      const blobs = readBlobs(this.#client, container, this.#onLeftOut);
      yield* this.#asFarAs(`what is in the container ${container.name}`, blobs);
    }
  }

  async *#queues(): AsyncGenerator<Item> {
    for await (const item of readQueues(this.#client, this.#onLeftOut)) {
      if (!this.#choice.hasItem(item)) continue;
      yield item;
      if (await this.#client.isOurs("queue")) {
        const pages = listMessages(this.#client, item.name);
        for await (const messages of this.#asFarAs(`messages of the queue ${item.name}`, pages)) {
          yield { kind: "messages", queue: item.name, messages };
        }
        continue;
      }
      try {
        const messages = await readMessages(this.#client, item.name);
        if (messages.length > 0) yield { kind: "messages", queue: item.name, messages };
      } catch (error) {
        this.#onLeftOut(`messages of the queue ${item.name}`, error);
      }
    }
  }

  async *#tables(): AsyncGenerator<Item> {
    for await (const item of readTables(this.#client, this.#onLeftOut)) {
      if (!this.#choice.hasItem(item)) continue;
      yield item;
      const entities = readEntities(this.#client, item.name);
      const all = this.#asFarAs(`entities of the table ${item.name}`, entities);
      yield* groupEntities(all);
    }
  }

  async *#shares(): AsyncGenerator<Item> {
    for await (const item of readShares(this.#client, this.#onLeftOut)) {
      if (!this.#choice.hasItem(item)) continue;
      const all = readShare(this.#client, item, this.#onLeftOut);
      yield* this.#asFarAs(`what is in the share ${item.name}`, all);
    }
  }
}
