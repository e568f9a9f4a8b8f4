/**
 * A queue delivers a message at least once: a worker that dies leaves it to the next one. So a worker
 * must be able to do the same work twice. This one names its result after the message and creates it
 * only if it is not there yet; the first worker "dies" before it deletes its message.
 *
 *     node dist/examples/queue-worker.js [connection string]
 */
import { randomUUID } from "node:crypto";
import { BlobServiceClient, RestError } from "@azure/storage-blob";
import { type DequeuedMessageItem, QueueServiceClient } from "@azure/storage-queue";

const connection = process.argv[2] ?? "UseDevelopmentStorage=true";
const name = `work${randomUUID().replaceAll("-", "")}`;

const results = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient(name);
await results.create();
await queue.create();
await queue.sendMessage("42");

const first = await next();
await work("first worker", first);
// It gives the message back at once; had it died, the message would come back by itself after 30 s.
await queue.updateMessage(first.messageId, first.popReceipt, first.messageText, 0);
console.log("first worker: stops before it deletes the message");

const second = await next();
await work("second worker", second);
await queue.deleteMessage(second.messageId, second.popReceipt);
console.log(`second worker: deletes the message, which was delivered ${second.dequeueCount} times`);

await queue.delete();
await results.delete();

async function next(): Promise<DequeuedMessageItem> {
  const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 30 });
  const [message] = receivedMessageItems;
  if (message === undefined) throw new Error("there is nothing to do");
  return message;
}

async function work(
  worker: string,
  { messageId, messageText }: DequeuedMessageItem,
): Promise<void> {
  const result = String(Number(messageText) ** 2);
  try {
    await results
      .getBlockBlobClient(messageId)
      .upload(result, result.length, { conditions: { ifNoneMatch: "*" } });
    console.log(`${worker}: ${messageText} squared is ${result}`);
  } catch (error) {
    if (!(error instanceof RestError) || error.code !== "BlobAlreadyExists") throw error;
    console.log(`${worker}: that was done before`);
  }
}
