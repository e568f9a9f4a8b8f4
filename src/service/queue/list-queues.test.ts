import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { createQueue } from "./create-queue.ts";
import { type ListQueues, listQueues } from "./list-queues.ts";
import { Queues } from "./queues.fixture.ts";

test("a list of queues with much metadata takes many small bodies, and has each queue once", async () => {
  const queues = await Queues.openEmpty();
  const { access } = queues.asked;
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) {
    const queue = `queue-${String(at).padStart(2, "0")}`;
    await createQueue(queues.context, { at: { account: "account", queue }, access, metadata });
  }
  const asked = { account: "account", access, prefix: "", after: "" };
  const list = async (use: ListQueues) => {
    const names: string[] = [];
    let hasMore = false;
    for await (const page of listQueues(queues.context, use)) {
      names.push(...page.queues.map(({ name }) => name));
      hasMore = page.next !== null;
    }
    return { names, hasMore };
  };
  const slices = await slicesDuring(async () => {
    const all = await list({ ...asked, resultsMax: 5_000 });
    assert.deepEqual([all.names.length, all.hasMore], [100, false]);
    assert.equal(new Set(all.names).size, 100);
  });
  assert.ok(slices >= 4, `${slices} slices`);
  const some = await list({ ...asked, resultsMax: 99 });
  assert.deepEqual([some.names.length, some.hasMore], [99, true]);
  const rest = await list({ ...asked, after: "queue-98", resultsMax: 1 });
  assert.deepEqual([rest.names, rest.hasMore], [["queue-99"], false]);
});
