import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type QueueClient,
  QueueServiceClient,
  RestError,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { type ServerProcess, startProcess } from "./server-process.ts";

const ROUNDS = 6;
const PRODUCERS = 8;
const CONSUMERS = 32;
const ANSWERS_BEFORE_KILL_MAX = 600;
/** Longer than the test, so that taken messages do not reappear. */
const HIDDEN_SECONDS = 3_600;

/** Everything that producers and consumers know about the queue. */
class Known {
  readonly put = new Set<string>();
  readonly delivered = new Set<string>();
  deleted = 0;
  /** Requests without an answer, which may have happened or not. */
  readonly unknown = { put: 0, get: 0, delete: 0 };
  #texts = 0;

  nextText(): string {
    return `message ${this.#texts++}`;
  }

  deliver(text: string): void {
    assert.ok(!this.delivered.has(text), `${text} was delivered twice within its timeout`);
    this.delivered.add(text);
  }
}

test(`no message is lost or delivered twice in ${ROUNDS} kills`, async (t) => {
  const location = await mkdtemp(join(tmpdir(), "lazuli-queue-kill-"));
  t.after(() => rm(location, { recursive: true, force: true }));
  const known = new Known();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startProcess(location, [], "Queue");
    await queueAt(server).createIfNotExists();
    await runUntilKilled(server, known);
  }
  const server = await startProcess(location, [], "Queue");
  const queue = queueAt(server);
  await drain(queue, known);
  await check(queue, known);
  assert.equal(await server.stop(), 0);
  const { put, delivered, deleted } = known;
  t.diagnostic(`${put.size} put, ${delivered.size} delivered, ${deleted} deleted`);
});

function queueAt({ url }: ServerProcess): QueueClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const client = new QueueServiceClient(url, credential, { retryOptions: { maxTries: 1 } });
  return client.getQueueClient("kills");
}

async function runUntilKilled(server: ServerProcess, known: Known): Promise<void> {
  let left = randomInt(1, ANSWERS_BEFORE_KILL_MAX);
  let killed: Promise<void> | null = null;
  const answered = () => {
    if (--left <= 0) killed ??= server.kill();
  };
  const queue = queueAt(server);
  const clients = [
    ...Array.from({ length: PRODUCERS }, () => () => produce(queue, known)),
    ...Array.from({ length: CONSUMERS }, () => () => consume(queue, known)),
  ];
  await Promise.all(
    clients.map(async (step) => {
      while (await step()) answered();
    }),
  );
  await killed;
}

/** False once the server is gone; `unknown` then counts the request. */
async function answeredBy<T>(
  request: Promise<T>,
  unknown: Known["unknown"],
  what: keyof Known["unknown"],
): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof RestError && error.statusCode !== undefined) throw error;
    unknown[what]++;
    return null;
  }
}

async function produce(queue: QueueClient, known: Known): Promise<boolean> {
  const text = known.nextText();
  const done = await answeredBy(queue.sendMessage(text), known.unknown, "put");
  if (done === null) return false;
  known.put.add(text);
  return true;
}

async function consume(queue: QueueClient, known: Known): Promise<boolean> {
  const get = queue.receiveMessages({ visibilityTimeout: HIDDEN_SECONDS });
  const got = await answeredBy(get, known.unknown, "get");
  if (got === null) return false;
  const [message] = got.receivedMessageItems;
  if (message === undefined) return true;
  known.deliver(message.messageText);
  if (randomInt(2) === 0) return true;
  const { messageId, popReceipt } = message;
  const done = await answeredBy(
    queue.deleteMessage(messageId, popReceipt),
    known.unknown,
    "delete",
  );
  if (done !== null) known.deleted++;
  return done !== null;
}

async function drain(queue: QueueClient, known: Known): Promise<void> {
  for (;;) {
    const { receivedMessageItems } = await queue.receiveMessages({
      numberOfMessages: 32,
      visibilityTimeout: HIDDEN_SECONDS,
    });
    if (receivedMessageItems.length === 0) return;
    for (const { messageText } of receivedMessageItems) known.deliver(messageText);
  }
}

async function check(queue: QueueClient, known: Known): Promise<void> {
  const { put, delivered, deleted, unknown } = known;
  const missing = [...put].filter((text) => !delivered.has(text)).length;
  assert.ok(missing <= unknown.get, `${missing} lost, of ${unknown.get} gets without an answer`);
  const ghosts = [...delivered].filter((text) => !put.has(text)).length;
  assert.ok(ghosts <= unknown.put, `${ghosts} ghosts, of ${unknown.put} puts without an answer`);
  const left = (await queue.getProperties()).approximateMessagesCount as number;
  assert.ok(left >= put.size - deleted - unknown.delete, `${left} left`);
  assert.ok(left <= put.size + unknown.put - deleted, `${left} left`);
}
