import { buffer } from "node:stream/consumers";
import type { Item, Message } from "../item.ts";
import { type AzuriteExtents, pieceIn } from "./extents.ts";
import { type Document, numberIn, pairsIn, policiesIn, textIn } from "./fields.ts";
import { readLokiFile } from "./loki-file.ts";
import { serviceItem } from "./service-properties.ts";

/** Messages of a queue that are sent together. */
const MESSAGES_AT_ONCE = 100;
/** What Azurite writes for messages that never expire. */
const NEVER = "9999-";

/** The queues and messages of an account. */
export class AzuriteQueues {
  readonly #file: string;
  readonly #account: string;
  readonly #extents: AzuriteExtents;

  constructor(file: string, account: string, extents: AzuriteExtents) {
    this.#file = file;
    this.#account = account;
    this.#extents = extents;
  }

  async *items(): AsyncGenerator<Item> {
    for await (const document of this.#documents("$SERVICES_COLLECTION$")) {
      yield serviceItem("queue", document);
    }
    for await (const document of this.#documents("$QUEUES_COLLECTION$")) {
      const metadata = pairsIn(document, "metadata");
      const policies = policiesIn(document, "queueAcl");
      yield { kind: "queue", name: textIn(document, "name") ?? "", metadata, policies };
    }
    let queue = "";
    let messages: Message[] = [];
    for await (const document of this.#documents("$MESSAGES_COLLECTION$")) {
      const own = textIn(document, "queueName") ?? "";
      if (messages.length > 0 && (own !== queue || messages.length === MESSAGES_AT_ONCE)) {
        yield { kind: "messages", queue, messages };
        messages = [];
      }
      queue = own;
      messages.push(await this.#messageOf(document));
    }
    if (messages.length > 0) yield { kind: "messages", queue, messages };
  }

  async *#documents(wanted: string): AsyncGenerator<Document> {
    for await (const { collection, document } of readLokiFile(this.#file)) {
      if (collection === wanted && document.accountName === this.#account) yield document;
    }
  }

  async #messageOf(document: Document): Promise<Message> {
    const body = this.#extents.body([pieceIn(document)]);
    const expires = textIn(document, "expirationTime");
    const isEndless = expires === undefined || expires.startsWith(NEVER);
    const inserted = textIn(document, "insertionTime");
    const id = textIn(document, "messageId");
    const visible = document.timeNextVisible;
    return {
      text: (await buffer(body.read())).toString("utf8"),
      ...(id === undefined ? {} : { id }),
      ...(inserted === undefined ? {} : { inserted }),
      ...(isEndless ? {} : { expires }),
      // Milliseconds in some versions, a text in others.
      ...(visible === undefined ? {} : { visible: new Date(visible as number).toISOString() }),
      dequeued: numberIn(document, "dequeueCount"),
    };
  }
}
