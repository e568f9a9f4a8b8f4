import { randomBytes } from "node:crypto";
import { answerTo } from "./load.ts";
import type { Target } from "./server.ts";
import { signed } from "./shared-key.ts";

const QUEUE = "/bench";
const MESSAGES = `${QUEUE}/messages`;
/** 1 KiB of text: bytes in Base64, as an SDK encodes them. */
const TEXT = randomBytes(768).toString("base64");
const MESSAGE = Buffer.from(`<QueueMessage><MessageText>${TEXT}</MessageText></QueueMessage>`);
/** Longer than any measurement, so that no message becomes visible again. */
const HIDDEN_SECONDS = "3600";
const MESSAGES_PER_GET = 32;

interface Receipt {
  readonly id: string;
  readonly receipt: string;
}

export function createQueue({ port }: Target): Buffer {
  return signed(port, { method: "PUT", path: QUEUE });
}

export function putMessage({ port }: Target): Buffer {
  return signed(port, { method: "POST", path: MESSAGES, body: MESSAGE });
}

/** Repeats one request: its signature does not depend on the message. */
export function putMessages(target: Target, messages: number): Buffer[] {
  return new Array<Buffer>(messages).fill(putMessage(target));
}

export function getMessages({ port }: Target, count: number): Buffer {
  const query = { numofmessages: String(count), visibilitytimeout: HIDDEN_SECONDS };
  return signed(port, { method: "GET", path: MESSAGES, query });
}

export function peekMessages({ port }: Target, count: number): Buffer {
  const query = { numofmessages: String(count), peekonly: "true" };
  return signed(port, { method: "GET", path: MESSAGES, query });
}

export function deleteMessage({ port }: Target, { id, receipt }: Receipt): Buffer {
  const query = { popreceipt: receipt };
  return signed(port, { method: "DELETE", path: `${MESSAGES}/${id}`, query });
}

export async function takeMessages(target: Target, messages: number): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  const get = getMessages(target, MESSAGES_PER_GET);
  while (receipts.length < messages) receipts.push(...receiptsIn(await answerTo(target, get)));
  return receipts.slice(0, messages);
}

/** Reads the messages from the response to a get. */
function receiptsIn(answer: string): Receipt[] {
  const found = answer.matchAll(
    /<MessageId>([^<]*)<\/MessageId>.*?<PopReceipt>([^<]*)<\/PopReceipt>/gs,
  );
  return [...found].map(([, id = "", receipt = ""]) => ({ id, receipt }));
}
