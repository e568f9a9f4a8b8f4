import { randomBytes } from "node:crypto";
import type { Target } from "./server.ts";
import { signed } from "./shared-key.ts";

const QUEUE = "/bench";
const MESSAGES = `${QUEUE}/messages`;
/** 1 KiB of text, as an SDK encodes bytes. */
const TEXT = randomBytes(768).toString("base64");
const MESSAGE = Buffer.from(`<QueueMessage><MessageText>${TEXT}</MessageText></QueueMessage>`);
/** Longer than any measurement: no message comes back. */
const HIDDEN_SECONDS = "3600";

export interface Held {
  readonly id: string;
  readonly receipt: string;
}

export function createQueue({ port }: Target): Buffer {
  return signed(port, { method: "PUT", path: QUEUE });
}

export function putMessage({ port }: Target): Buffer {
  return signed(port, { method: "POST", path: MESSAGES, body: MESSAGE });
}

export function getMessages({ port }: Target, count: number): Buffer {
  const query = { numofmessages: String(count), visibilitytimeout: HIDDEN_SECONDS };
  return signed(port, { method: "GET", path: MESSAGES, query });
}

export function deleteMessage({ port }: Target, { id, receipt }: Held): Buffer {
  const query = { popreceipt: receipt };
  return signed(port, { method: "DELETE", path: `${MESSAGES}/${id}`, query });
}

/** The messages in the answer to a get. */
export function heldIn(answer: string): Held[] {
  const found = answer.matchAll(
    /<MessageId>([^<]*)<\/MessageId>.*?<PopReceipt>([^<]*)<\/PopReceipt>/gs,
  );
  return [...found].map(([, id = "", receipt = ""]) => ({ id, receipt }));
}
