import { randomBytes } from "node:crypto";
import { answerTo } from "./load.ts";
import type { Target } from "./server.ts";
import { signed } from "./shared-key.ts";

const QUEUE = "/bench";
const MESSAGES = `${QUEUE}/messages`;
/** 1 KiB of text, as an SDK encodes bytes. */
const TEXT = randomBytes(768).toString("base64");
const MESSAGE = Buffer.from(`<QueueMessage><MessageText>${TEXT}</MessageText></QueueMessage>`);
/** Longer than any measurement: no message comes back. */
const HIDDEN_SECONDS = "3600";
const MESSAGES_PER_GET = 32;

interface Held {
  readonly id: string;
  readonly receipt: string;
}

export function createQueue({ port }: Target): Buffer {
  return signed(port, { method: "PUT", path: QUEUE });
}

export function putMessage({ port }: Target): Buffer {
  return signed(port, { method: "POST", path: MESSAGES, body: MESSAGE });
}

/** A signature does not say which message it is for, so one request will do. */
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

export function deleteMessage({ port }: Target, { id, receipt }: Held): Buffer {
  const query = { popreceipt: receipt };
  return signed(port, { method: "DELETE", path: `${MESSAGES}/${id}`, query });
}

export async function takeMessages(target: Target, messages: number): Promise<Held[]> {
  const held: Held[] = [];
  const get = getMessages(target, MESSAGES_PER_GET);
  while (held.length < messages) held.push(...heldIn(await answerTo(target, get)));
  return held.slice(0, messages);
}

/** The messages in the answer to a get. */
function heldIn(answer: string): Held[] {
  const found = answer.matchAll(
    /<MessageId>([^<]*)<\/MessageId>.*?<PopReceipt>([^<]*)<\/PopReceipt>/gs,
  );
  return [...found].map(([, id = "", receipt = ""]) => ({ id, receipt }));
}
