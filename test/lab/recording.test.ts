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

test("a batch of entities is recorded as one operation, and half of one is found", async (t) => {
  const here = await served(t);
  const table = TableClient.fromConnectionString(here.server.connectionString, "things", {
    allowInsecureConnection: true,
    ...ONE_TRY,
  });
  await table.createTable();
  await ask(here, "POST", "/recording");
  const both = (n: number) => ["a", "b'c"].map((rowKey) => ({ partitionKey: "p", rowKey, n }));
  await table.submitTransaction(both(1).map((one) => ["create", one]));
  const { etag } = await table.getEntity("p", "a");
  await table.submitTransaction(both(2).map((one) => ["upsert", one]));
  const [a, b] = both(3) as [object, object];
  const refused = table.submitTransaction([
    ["upsert", b as never],
    ["update", a as never, "Replace", { etag }],
  ]);
  await assert.rejects(refused, { statusCode: 412 });
  await here.lab.rule({ operation: "Batch", drop: true, at: "answer" });
  await assert.rejects(table.submitTransaction(both(4).map((one) => ["upsert", one])));
  for (const rowKey of ["a", "b'c"]) {
    assert.equal((await table.getEntity("p", rowKey)).n, 4);
  }
  await table.submitTransaction(both(5).map((one) => ["delete", one]));
  await assert.rejects(table.getEntity("p", "a"), { statusCode: 404 });
  const history = await ask<HistoryFile>(here, "DELETE", "/recording");
  const batches = history.operations.filter(({ verb }) => verb === "batch");
  assert.deepEqual(
    batches.map(({ status, code, refused, parts = [] }) => [status, code, refused, parts.length]),
    [
      [202, null, null, 2],
      [202, null, null, 2],
      [412, "UpdateConditionNotSatisfied", 1, 2],
      [null, undefined, null, 2],
      [202, null, null, 2],
    ],
  );
  assert.deepEqual(history.skipped, {});
  const verdicts = checkHistory(history);
  assert.deepEqual(
    verdicts.map(({ verdict, why }) => why ?? verdict),
    ["explained"],
  );
  // The second batch is torn: its first half is not seen, and its second half is.
  const torn = history.operations.filter((one) => one !== batches[3]);
  const [first, second] = torn.filter(({ verb }) => verb === "get").slice(1, 3);
  const etags = (batches[1]?.parts ?? []).map((part) => part.etag);
  const older = (batches[0]?.parts ?? []).map((part) => part.etag);
  const tampered = torn.map((one) => {
    if (one === first) return { ...one, etag: older[0] ?? null };
    return one === second ? { ...one, etag: etags[1] ?? null } : one;
  });
  assert.equal(checkHistory({ operations: tampered })[0]?.verdict, "unexplained");
});

test("each scene ends as it should, is explained, and is drawn", async (t) => {
  const here = await served(t, { services: ["blob", "queue", "file", "smb"] });
  const refusals: Record<string, string[]> = {
    "lost-update": ["put 412", "put 412", "put 412"],
    "lease-expiry": ["put 412", "put 412", "put 412", "acquire 409", "acquire 409", "put 412"],
    "queue-redelivery": ["remove 400", "remove 404"],
    "rest-against-smb-lock": Array(8).fill("change 409"),
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
  const noSmb = await served(t, { services: ["blob", "file"] });
  const { error } = await ask<{ error: string }>(noSmb, "POST", "/scenes/rest-against-smb-lock");
  assert.match(error, /SMB does not run on this server: add smb/);
  const wrong = await ask<{ error: string }>(here, "POST", "/scenes/fight");
  assert.match(wrong.error, /no scene "fight". There are lost-update/);
});

for (const smbEncryption of ["required", "off"] as const) {
  test(`REST meets locks and share modes of SMB where encryption is ${smbEncryption}`, async (t) => {
    const here = await served(t, { services: ["blob", "file", "smb"], smbEncryption });
    const played = await ask<{ history: HistoryFile; verdicts: { verdict: string }[] }>(
      here,
      "POST",
      "/scenes/rest-against-smb-lock",
      { clients: 2 },
    );
    const { operations } = played.history;
    assert.deepEqual(
      operations
        .filter(({ client }) => client === "SMB client")
        .map(({ verb, code }) => [verb, code]),
      ["open", "lock", "change", "close", "open", "close"].map((verb) => [verb, null]),
    );
    const codes = operations.map(({ code }) => code ?? "").filter((code) => code !== "");
    assert.deepEqual(codes, [
      ...Array(2).fill("FileLockConflict"),
      ...Array(2).fill("SharingViolation"),
    ]);
    assert.equal(played.verdicts[0]?.verdict, "explained");
    // The checker objects if a lock had kept nobody out.
    const write = operations.find(({ code }) => code === "FileLockConflict");
    const tampered = operations.map((one) =>
      one === write ? { ...one, status: 201, code: null } : one,
    );
    assert.equal(checkHistory({ operations: tampered })[0]?.verdict, "unexplained");
  });
}
