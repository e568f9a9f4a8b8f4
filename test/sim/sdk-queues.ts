import type { QueueClient } from "@azure/storage-queue";
import { PEEKED_MAX, type QueueAnswer, type QueueAsked, type Told } from "./queue-words.ts";

/** Stands for "never expires". */
const FOR_EVER = -1;

/** The words of the checker, spoken by the official client. */
export async function askQueue(
  queue: QueueClient,
  asked: QueueAsked,
  abortSignal: AbortSignal,
): Promise<QueueAnswer> {
  const signal = { abortSignal };
  switch (asked.operation) {
    case "put": {
      const sent = await queue.sendMessage(asked.name, {
        visibilityTimeout: asked.hiddenS,
        messageTimeToLive: asked.lifeS ?? FOR_EVER,
        ...signal,
      });
      return done([told({ ...sent, nextVisibleOn: sent.nextVisibleOn })]);
    }
    case "get": {
      const { receivedMessageItems } = await queue.receiveMessages({
        numberOfMessages: asked.max,
        visibilityTimeout: asked.hiddenS,
        ...signal,
      });
      return done(receivedMessageItems.map(told));
    }
    case "peek": {
      const options = { numberOfMessages: PEEKED_MAX, ...signal };
      return done((await queue.peekMessages(options)).peekedMessageItems.map(told));
    }
    case "update": {
      const { id, receipt } = asked.handle;
      const { text, hiddenS } = asked;
      return done([told(await queue.updateMessage(id, receipt, text, hiddenS, signal))]);
    }
    case "delete":
      await queue.deleteMessage(asked.handle.id, asked.handle.receipt, signal);
      return done([]);
    case "clear":
      await queue.clearMessages(signal);
      return done([]);
    case "turn":
      throw new Error("the clock is not turned over HTTP");
  }
}

interface Item {
  readonly messageId?: string;
  readonly messageText?: string;
  readonly popReceipt?: string;
  readonly dequeueCount?: number;
  readonly nextVisibleOn?: Date;
}

function told({ messageId, messageText, popReceipt, dequeueCount, nextVisibleOn }: Item): Told {
  return {
    id: messageId ?? null,
    text: messageText ?? null,
    receipt: popReceipt ?? null,
    dequeueCount: dequeueCount ?? null,
    nextVisibleMs: nextVisibleOn?.getTime() ?? null,
  };
}

function done(messages: readonly Told[]): QueueAnswer {
  return { refused: null, messages };
}
