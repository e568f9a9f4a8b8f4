// A test with vitest: each file gets a server of its own, in memory and on free ports.
import { QueueServiceClient } from "@azure/storage-queue";
import { start } from "lazuli";
import { afterAll, beforeAll, expect, test } from "vitest";

let lazuli;
let queue;

beforeAll(async () => {
  lazuli = await start({ services: ["queue"] });
  const service = QueueServiceClient.fromConnectionString(lazuli.connectionString);
  queue = service.getQueueClient("work");
  await queue.create();
});

afterAll(() => lazuli.stop());

test("a message that one worker holds is hidden from the others", async () => {
  await queue.sendMessage("42");
  const { receivedMessageItems } = await queue.receiveMessages();
  expect(receivedMessageItems.map(({ messageText }) => messageText)).toEqual(["42"]);
  expect((await queue.receiveMessages()).receivedMessageItems).toEqual([]);
});
