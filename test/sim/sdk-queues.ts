import type { QueueClient } from "@azure/storage-queue";
import { type MessageSeen, PEEKED_MAX, type QueueAnswer, type QueueAsked } from "./queue-words.ts";

/** The value for "never expires". */
const FOR_EVER = -1;

/** Runs the checker's operations with the official client. */
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
      return done([messageSeen({ ...sent, nextVisibleOn: sent.nextVisibleOn })]);
    }
    case "get": {
      const { receivedMessageItems } = await queue.receiveMessages({
        numberOfMessages: asked.max,
        visibilityTimeout: asked.hiddenS,
        ...signal,
      });
      return done(receivedMessageItems.map(messageSeen));
    }
    case "peek": {
      const options = { numberOfMessages: PEEKED_MAX, ...signal };
      return done((await queue.peekMessages(options)).peekedMessageItems.map(messageSeen));
    }
    case "update": {
      const { id, receipt } = asked.handle;
      const { text, hiddenS } = asked;
      return done([messageSeen(await queue.updateMessage(id, receipt, text, hiddenS, signal))]);
    }
    case "delete":
      await queue.deleteMessage(asked.handle.id, asked.handle.receipt, signal);
      return done([]);
    case "clear":
      await queue.clearMessages(signal);
      return done([]);
    case "advance":
      throw new Error("the clock is not advanced over HTTP");
  }
}

interface Item {
  readonly messageId?: string;
  readonly messageText?: string;
  readonly popReceipt?: string;
  readonly dequeueCount?: number;
  readonly nextVisibleOn?: Date;
}

function messageSeen({
  messageId,
  messageText,
  popReceipt,
  dequeueCount,
  nextVisibleOn,
}: Item): MessageSeen {
  return {
    id: messageId ?? null,
    text: messageText ?? null,
    receipt: popReceipt ?? null,
    dequeueCount: dequeueCount ?? null,
    nextVisibleMs: nextVisibleOn?.getTime() ?? null,
  };
}

function done(messages: readonly MessageSeen[]): QueueAnswer {
  return { refused: null, messages };
}
