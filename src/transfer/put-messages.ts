import { randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { element, XML_DECLARATION } from "../front/rest/xml/write-xml.ts";
import type { Message } from "./item.ts";
import type { RestClient } from "./rest-client.ts";

/** The longest time that a message can be hidden. */
const HIDDEN_S_MAX = 7 * 86_400;

/** Sends messages in their order. What has expired meanwhile is left out. */
export async function putMessages(
  client: RestClient,
  queue: string,
  messages: readonly Message[],
  clock: Clock,
): Promise<void> {
  for (const message of messages) {
    const now = clock.now();
    const lifeS = message.expires === undefined ? -1 : secondsUntil(message.expires, now);
    if (message.expires !== undefined && lifeS < 1) continue;
    const hiddenS = Math.max(0, secondsUntil(message.visible ?? "", now));
    // A message can be hidden for a week at most, and never beyond its end.
    const last = Math.min(HIDDEN_S_MAX, lifeS === -1 ? HIDDEN_S_MAX : lifeS - 1);
    const text = element("MessageText", message.text);
    await client.request({
      service: "queue",
      method: "POST",
      path: `${queue}/messages`,
      query: { messagettl: `${lifeS}`, visibilitytimeout: `${Math.min(hiddenS, last)}` },
      body: Buffer.from(`${XML_DECLARATION}<QueueMessage>${text}</QueueMessage>`),
      isRepeatable: false,
    });
  }
}

/** As many as one request takes. */
const RESTORED_MAX = 64;

/** Puts messages on a server of ours: with their ids, times and dequeue counts. */
export async function restoreMessages(
  client: RestClient,
  queue: string,
  messages: readonly Message[],
): Promise<void> {
  for (let at = 0; at < messages.length; at += RESTORED_MAX) {
    const some = messages.slice(at, at + RESTORED_MAX).map(wholeMessage);
    await client.request({
      service: "queue",
      method: "POST",
      path: `${queue}/messages`,
      query: { comp: "lazuli-messages" },
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(JSON.stringify({ messages: some })),
    });
  }
}

/** Other sources do not tell everything. */
function wholeMessage({ id, text, inserted, expires, visible, dequeued = 0 }: Message): Message {
  const known = inserted ?? new Date(0).toISOString();
  return {
    id: (id ?? randomUUID()).toLowerCase(),
    text,
    inserted: known,
    ...(expires === undefined ? {} : { expires }),
    visible: visible ?? known,
    dequeued,
  };
}

/** Rounded up, so that a message is not seen too early. */
function secondsUntil(time: string, now: number): number {
  const at = Date.parse(time);
  return Number.isNaN(at) ? 0 : Math.ceil((at - now) / 1000);
}
