import assert from "node:assert/strict";
import dns from "node:dns";
import { mock, test } from "node:test";
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { QueueRestService } from "../../src/front/rest/queue/queue-rest-service.ts";
import { TableRestService } from "../../src/front/rest/table/table-rest-service.ts";
import {
  ACCOUNT,
  CREDENTIAL,
  forThisFile,
  KEY,
  startServer,
  startService,
  type TestService,
} from "./server.ts";
import { CLIENT_OPTIONS } from "./table-server.ts";

const DOMAIN = "files.shop.example";

type Found = (error: null, found: string | dns.LookupAddress[], family?: number) => void;

/** Resolves every name to this machine, like a wildcard DNS record. */
mock.method(dns, "lookup", (_name: string, ...rest: [Found] | [dns.LookupOptions, Found]) => {
  const [options, done] = rest.length === 1 ? [{}, rest[0]] : rest;
  if (options.all === true) done(null, [{ address: "127.0.0.1", family: 4 }]);
  else done(null, "127.0.0.1", 4);
});

/** Returns the roots under which the host alone reaches a service. */
async function rootsOf(start: Promise<TestService>, label: string): Promise<string[]> {
  const { port } = new URL((await forThisFile(start)).url);
  const hosts = [`${ACCOUNT}.${label}.localhost`, `${ACCOUNT}.${label}.core.windows.net`, DOMAIN];
  return hosts.map((host) => `http://${host}:${port}`);
}

test("the blob client works if the host names the account or is the account's domain", async () => {
  const roots = await rootsOf(startServer({ domains: [DOMAIN] }), "blob");
  for (const [at, root] of roots.entries()) {
    const client = new BlobServiceClient(root, CREDENTIAL, { retryOptions: { maxTries: 1 } });
    const container = client.getContainerClient(`host-${at}`);
    await container.create();
    // A name that begins like an account's path is an ordinary blob name here.
    const blob = container.getBlockBlobClient(`${ACCOUNT}/a b+ü%2F.txt`);
    const { etag } = await blob.upload(root, root.length);
    await blob.upload("second", 6, { conditions: { ifMatch: etag as string } });
    assert.equal(String(await blob.downloadToBuffer()), "second");
    const { value: page } = await container.listBlobsFlat().byPage().next();
    assert.equal(page.serviceEndpoint, `${root}/`);
    assert.equal(page.segment.blobItems[0]?.name, `${ACCOUNT}/a b+ü%2F.txt`);
  }
});

test("the table client works by host too, including batches and queries across pages", async () => {
  const roots = await rootsOf(startService(TableRestService, { domains: [DOMAIN] }), "table");
  for (const [at, root] of roots.entries()) {
    const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
    const table = new TableClient(root, `Host${at}`, credential, CLIENT_OPTIONS);
    await table.createTable();
    const rows = ["it's", "a b+c", "ü%41", "="];
    await table.submitTransaction(
      rows.map((rowKey) => ["create", { partitionKey: "p q+r%41", rowKey }]),
    );
    const found: unknown[] = [];
    for await (const page of table.listEntities().byPage({ maxPageSize: 3 })) {
      found.push(...page.map(({ rowKey }) => rowKey));
    }
    assert.deepEqual(found, rows.toSorted());
    for (const row of rows) {
      const { etag } = await table.getEntity("p q+r%41", row);
      await table.deleteEntity("p q+r%41", row, { etag });
    }
  }
});

test("the queue client works by host too, with receipts that need encoding", async () => {
  const roots = await rootsOf(startService(QueueRestService, { domains: [DOMAIN] }), "queue");
  for (const [at, root] of roots.entries()) {
    const options = { retryOptions: { maxTries: 1 } };
    const queue = new QueueServiceClient(root, CREDENTIAL, options).getQueueClient(`host-${at}`);
    await queue.create();
    const { messageId, popReceipt } = await queue.sendMessage(root);
    const updated = await queue.updateMessage(messageId, popReceipt, "new", 0);
    const { peekedMessageItems } = await queue.peekMessages();
    assert.equal(peekedMessageItems[0]?.messageText, "new");
    await queue.deleteMessage(messageId, updated.popReceipt as string);
  }
});
