import { randomInt } from "node:crypto";
import {
  type QueueClient,
  QueueServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { type Change, describeBytes, StateWriter, type Subject } from "./state-writer.ts";

const MESSAGES_MAX = 12;
/** The most messages that a peek can show. */
const PEEKED_MAX = 32;
const TEXT_LENGTHS = [10, 1_000, 20_000, 40_000];
/** Far longer than a check takes. */
const HIDDEN_SECONDS = 3_600;

/** The texts in the queue. */
type Texts = readonly string[];
interface Receipt {
  readonly messageId: string;
  readonly popReceipt: string;
}

/** A queue of its own, whose messages are put, updated and deleted. */
class QueueSubject implements Subject<Texts> {
  readonly name: string;
  readonly #receipts = new Map<string, Receipt>();

  constructor(name: string) {
    this.name = name;
  }

  nextChange(before: Texts, server: WholeServerProcess): Change<Texts> {
    const queue = queueAt(server, this.name);
    const text = newText();
    const old = before[randomInt(Math.max(before.length, 1))];
    if (old === undefined || (before.length < MESSAGES_MAX && randomInt(2) === 0)) {
      const make = async () => this.#note(text, await queue.sendMessage(text));
      return { next: [...before, text], make };
    }
    const { messageId, popReceipt } = this.#receipts.get(old) as Receipt;
    const others = before.filter((each) => each !== old);
    if (randomInt(2) === 0) {
      return { next: others, make: () => queue.deleteMessage(messageId, popReceipt) };
    }
    const make = async () => {
      const done = await queue.updateMessage(messageId, popReceipt, text, 0);
      this.#note(text, { messageId, popReceipt: done.popReceipt as string });
    };
    return { next: [...others, text], make };
  }

  /**
   * Peeks, and then gets a receipt of each message, because some receipts were lost with a
   * connection.
   */
  async read(server: WholeServerProcess): Promise<Texts> {
    const queue = queueAt(server, this.name);
    const numberOfMessages = PEEKED_MAX;
    const peeked = (await queue.peekMessages({ numberOfMessages })).peekedMessageItems;
    const visibilityTimeout = HIDDEN_SECONDS;
    const got = await queue.receiveMessages({ numberOfMessages, visibilityTimeout });
    this.#receipts.clear();
    for (const { messageId, popReceipt, messageText } of got.receivedMessageItems) {
      const done = await queue.updateMessage(messageId, popReceipt, messageText, 0);
      this.#note(messageText, { messageId, popReceipt: done.popReceipt as string });
    }
    return peeked.map(({ messageText }) => messageText);
  }

  describe(texts: Texts): string {
    return `${texts.length} messages, ${describeBytes([...texts].sort().join(" "))}`;
  }

  #note(text: string, { messageId, popReceipt }: Receipt): void {
    this.#receipts.set(text, { messageId, popReceipt });
  }
}

function newText(): string {
  const length = TEXT_LENGTHS[randomInt(TEXT_LENGTHS.length)] as number;
  const label = randomInt(2 ** 47).toString(36);
  return label.repeat(Math.ceil(length / label.length));
}

export function newQueueWriter(name: string): StateWriter<Texts> {
  return new StateWriter(new QueueSubject(name), []);
}

export function queueAt({ urls }: WholeServerProcess, name: string): QueueClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const client = new QueueServiceClient(urls.Queue, credential, { retryOptions: { maxTries: 1 } });
  return client.getQueueClient(name);
}
