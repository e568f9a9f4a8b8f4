import assert from "node:assert/strict";
import { test } from "node:test";
import { HolderScan } from "../shared/holder-scan.ts";
import { HELD_MESSAGES } from "./held-messages.ts";
import { Queues } from "./queues.fixture.ts";

test("messages are shown while they are hidden, with the receipt that their client has", async () => {
  const queues = await Queues.open();
  await queues.put(2);
  await queues.put(1, null, 60_000);
  const putMs = queues.clock.now();
  queues.clock.advance(5_000);
  const [got] = await queues.get();
  const scan = new HolderScan(queues.store, HELD_MESSAGES);
  const { holders } = await scan.list();
  assert.deepEqual(
    holders.map(({ account, container, held }) => [account, container, held]),
    [
      [
        "account",
        "queue",
        {
          kind: "message",
          id: got?.messageId,
          popReceipt: got?.receipt.toString("base64"),
          dequeueCount: 1,
          putMs,
          sinceMs: queues.clock.now(),
          untilMs: queues.clock.now() + 30_000,
        },
      ],
      ["account", "queue", holders[1]?.held],
    ],
  );
  queues.clock.advance(30_000);
  const later = await scan.list();
  assert.deepEqual(
    later.holders.map(({ held }) => held.kind === "message" && held.dequeueCount),
    [0],
  );
});
