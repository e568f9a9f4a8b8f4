import assert from "node:assert/strict";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { checkHistory } from "../../src/check/check-history.ts";
import type { HistoryFile } from "../../src/check/history-file.ts";
import { newContainer, ONE_TRY, put, type Served, served, textOf } from "./served.ts";

async function ask<T>({ server }: Served, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await (await fetch(`${server.labUrl}${path}`, { method, ...sent })).json()) as T;
}

test("what SDK clients do is recorded, and can be explained", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const { connectionString } = here.server;
  const table = TableClient.fromConnectionString(connectionString, "things", {
    allowInsecureConnection: true,
    ...ONE_TRY,
  });
  await table.createTable();
  const queue = QueueServiceClient.fromConnectionString(connectionString, ONE_TRY).getQueueClient(
    "work",
  );
  await queue.create();
  await ask(here, "POST", "/recording");
  const { etag } = await put(container, "doc", "one");
  await Promise.allSettled(["a", "b", "c"].map((text) => put(container, "doc", text, etag)));
  await textOf(container, "doc");
  await here.lab.rule({ operation: "PutBlob", drop: true, at: "answer" });
  await assert.rejects(put(container, "doc", "lost"));
  await container.getBlobClient("doc").delete();
  await assert.rejects(textOf(container, "doc"), { statusCode: 404 });
  await table.createEntity({ partitionKey: "p", rowKey: "r", n: 1 });
  const { etag: stale } = await table.getEntity("p", "r");
  await table.updateEntity({ partitionKey: "p", rowKey: "r", n: 2 }, "Replace", { etag: stale });
  await assert.rejects(table.deleteEntity("p", "r", { etag: stale }), { statusCode: 412 });
  await queue.sendMessage("job");
  const { receivedMessageItems } = await queue.receiveMessages();
  const [item] = receivedMessageItems;
  await queue.deleteMessage(item?.messageId ?? "", item?.popReceipt ?? "");
  const history = await ask<HistoryFile>(here, "DELETE", "/recording");
  const seen = history.operations.map(({ kind, verb, status }) => `${kind} ${verb} ${status}`);
  assert.equal(seen.filter((one) => one === "blob put 412").length, 2);
  for (const one of [
    "blob put null",
    "blob delete 202",
    "blob get 404",
    "entity put 204",
    "entity change 204",
    "entity delete 412",
    "queue receive 200",
    "queue remove 204",
  ]) {
    assert.ok(seen.includes(one), `${one} is not in ${seen}`);
  }
  assert.deepEqual(
    checkHistory(history).map(({ verdict, why }) => why ?? verdict),
    ["explained", "explained", "explained"],
  );
  const read = history.operations.find(({ verb, status }) => verb === "get" && status === 200);
  const tampered = history.operations.map((one) => (one === read ? { ...one, etag: "0x1" } : one));
  assert.equal(checkHistory({ operations: tampered })[0]?.verdict, "unexplained");
});

test("each scene ends as it should, is explained, and is drawn", async (t) => {
  const here = await served(t);
  const refusals: Record<string, string[]> = {
    "lost-update": ["put 412", "put 412", "put 412"],
    "lease-expiry": ["put 412", "put 412", "put 412", "acquire 409", "acquire 409", "put 412"],
    "queue-redelivery": ["remove 400", "remove 404"],
    "batch-race": [...Array(9).fill("delete 404"), "get 404"],
  };
  const names = (await ask<{ name: string }[]>(here, "GET", "/scenes")).map(({ name }) => name);
  assert.deepEqual(names, Object.keys(refusals));
  for (const name of names) {
    const played = await ask<{
      history: HistoryFile;
      verdicts: { verdict: string; why: string | null }[];
      svg: string;
    }>(here, "POST", `/scenes/${name}`, { clients: 4 });
    const refused = played.history.operations.filter(({ status }) => (status ?? 0) >= 300);
    assert.deepEqual(
      refused.map(({ verb, status }) => `${verb} ${status}`).sort(),
      refusals[name]?.toSorted(),
      name,
    );
    for (const { verdict, why } of played.verdicts) assert.equal(verdict, "explained", why ?? "");
    assert.match(played.svg, /^<svg [\s\S]*client 4[\s\S]*<\/svg>\n$/);
  }
  assert.deepEqual((await here.lab.clocks()).accounts, {});
  const wrong = await ask<{ error: string }>(here, "POST", "/scenes/fight");
  assert.match(wrong.error, /no scene "fight". There are lost-update/);
});
