import type { Instant } from "../../../base/clock.ts";
import { KIB } from "../../../base/limits.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { GotMessage } from "../../../service/queue/get-messages.ts";
import type { PeekedMessage } from "../../../service/queue/peek-messages.ts";
import type { PutMessageDone } from "../../../service/queue/put-message.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { element, XML_DECLARATION } from "../xml/write-xml.ts";
import { readXmlBody } from "../xml-body.ts";
import { childOf, requireOnlyChildren, requireRoot } from "../xml-nodes.ts";
import { receiptText } from "./message-query.ts";

/** Messages as XML: `QueueMessage` in requests, `QueueMessagesList` in answers. */

/** Longest body: a message of 64 KiB with every character written as a reference. */
const BODY_BYTES_MAX = 512 * KIB;
const NEVER = "Fri, 31 Dec 9999 23:59:59 GMT";

/**
 * The message text in the body, every character as sent; null if there is no body. Without a text
 * element the text is empty.
 */
export async function readMessageText(request: RestRequest): Promise<string | null> {
  const body = await readXmlBody(request, BODY_BYTES_MAX, { keepLineEnds: true });
  if (body === null) return null;
  const root = requireRoot(body, "QueueMessage");
  requireOnlyChildren(root, ["MessageText"]);
  const text = childOf(root, "MessageText");
  if (text === null) return "";
  requireOnlyChildren(text, []);
  return text.text;
}

export function messagesResponse(status: number, messages: readonly string[]): RestResponse {
  const list = messages.map((message) => `<QueueMessage>${message}</QueueMessage>`).join("");
  return {
    status,
    headers: [...XML_CONTENT, "Cache-Control", "no-cache"],
    body: `${XML_DECLARATION}<QueueMessagesList>${list}</QueueMessagesList>`,
  };
}

export function putMessageXml(done: PutMessageDone): string {
  return headXml(done) + receiptXml(done);
}

export function gotMessageXml(message: GotMessage): string {
  return headXml(message) + receiptXml(message) + textXml(message);
}

export function peekedMessageXml(message: PeekedMessage): string {
  return headXml(message) + textXml(message);
}

interface Head {
  readonly messageId: string;
  readonly insertedMs: Instant;
  readonly expiresMs: Instant | null;
}

function headXml({ messageId, insertedMs, expiresMs }: Head): string {
  return (
    `<MessageId>${messageId}</MessageId>` +
    `<InsertionTime>${rfc1123(insertedMs)}</InsertionTime>` +
    `<ExpirationTime>${expiresMs === null ? NEVER : rfc1123(expiresMs)}</ExpirationTime>`
  );
}

function receiptXml({ receipt, visibleAtMs }: Pick<GotMessage, "receipt" | "visibleAtMs">): string {
  return (
    `<PopReceipt>${receiptText(receipt)}</PopReceipt>` +
    `<TimeNextVisible>${rfc1123(visibleAtMs)}</TimeNextVisible>`
  );
}

function textXml({ dequeueCount, text }: PeekedMessage): string {
  return `<DequeueCount>${dequeueCount}</DequeueCount>${element("MessageText", text)}`;
}
