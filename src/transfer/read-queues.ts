import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { Message, QueueItem } from "./item.ts";
import { type OnLeftOut, readOrLeaveOut } from "./left-out.ts";
import { listAll, nameAt, pairsAt, policiesAt, textAt } from "./listed.ts";
import type { RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

const GET = { service: "queue", method: "GET" } as const;
const MESSAGES_AT_ONCE = 32;
/** Long enough to read a queue; all messages are given back when it is read. */
const HIDDEN_S = 3_600;
const NEVER = /9999/;

export async function* readQueues(
  client: RestClient,
  onLeftOut: OnLeftOut,
): AsyncGenerator<QueueItem> {
  const query = { comp: "list", include: "metadata" };
  for await (const found of listAll(client, { ...GET, path: "", query }, ["Queues", "Queue"])) {
    const name = nameAt(found);
    const acl = { ...GET, path: name, query: { comp: "acl" } };
    const policies = await readOrLeaveOut(`queue ${name}`, onLeftOut, () =>
      policiesAt(client, acl),
    );
    if (policies === null) continue;
    yield { kind: "queue", name, metadata: pairsAt(found, "Metadata"), policies };
  }
}

/** The messages of a queue of ours, page by page: all of them, without any change to them. */
export async function* listMessages(client: RestClient, queue: string): AsyncGenerator<Message[]> {
  for (let marker = ""; ; ) {
    const query = { comp: "lazuli-messages", ...(marker === "" ? {} : { marker }) };
    const { bytes } = await client.request({ ...GET, path: `${queue}/messages`, query });
    const { messages, next = "" } = JSON.parse(bytes.toString("utf8"));
    if (messages.length > 0) yield messages;
    if (next === "") return;
    marker = next;
  }
}

/**
 * The messages of a queue. There is no list of them: they are received and made visible again,
 * which raises their dequeue count. Throws if some are hidden because others have received them.
 */
export async function readMessages(client: RestClient, queue: string): Promise<Message[]> {
  const path = `${queue}/messages`;
  const query = { numofmessages: `${MESSAGES_AT_ONCE}`, visibilitytimeout: `${HIDDEN_S}` };
  const got: XmlElement[] = [];
  try {
    for (;;) {
      const { children } = await client.xml({ ...GET, path, query });
      if (children.length === 0) break;
      got.push(...children);
    }
  } finally {
    for (const message of got) await giveBack(client, path, message);
  }
  const state = await client.request({ ...GET, path: queue, query: { comp: "metadata" } });
  const count = Number(state.header("x-ms-approximate-messages-count") ?? got.length);
  if (count > got.length) {
    throw new TransferError(
      `${count - got.length} messages of the queue ${queue} are hidden or new, and cannot be read. ` +
        "Stop its readers, wait until the messages are visible, and try again.",
    );
  }
  return got.map(messageOf);
}

async function giveBack(client: RestClient, path: string, message: XmlElement): Promise<void> {
  const popreceipt = textAt(message, "PopReceipt") ?? "";
  await client.request({
    service: "queue",
    method: "PUT",
    path: `${path}/${textAt(message, "MessageId")}`,
    query: { popreceipt, visibilitytimeout: "0" },
    expects: [404],
  });
}

function messageOf(found: XmlElement): Message {
  const expires = textAt(found, "ExpirationTime") ?? "9999";
  const inserted = textAt(found, "InsertionTime");
  const id = textAt(found, "MessageId");
  return {
    text: textAt(found, "MessageText") ?? "",
    ...(id === undefined ? {} : { id }),
    ...(inserted === undefined ? {} : { inserted: isoOf(inserted) }),
    ...(NEVER.test(expires) ? {} : { expires: isoOf(expires) }),
    // Reading it was one more.
    dequeued: Number(textAt(found, "DequeueCount") ?? "1") - 1,
  };
}

function isoOf(time: string): string {
  return new Date(time).toISOString();
}
