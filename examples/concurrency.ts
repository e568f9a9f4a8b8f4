/**
 * The three strategies of Azure Storage, each with a conflict to look at:
 *
 *     npm start
 *     node dist/examples/concurrency.js
 *
 * Another server, or Azure itself: give its connection string as the argument.
 */
import { randomUUID } from "node:crypto";
import { RestError, TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";

const connection = process.argv[2] ?? "UseDevelopmentStorage=true";
const name = `example${randomUUID().replaceAll("-", "")}`;

await blobsOptimistic();
await blobsPessimistic();
await entities();
await messages();

async function blobsOptimistic(): Promise<void> {
  console.log("Blob, optimistic: an update with the ETag that was read");
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
  await container.create();
  const blob = container.getBlockBlobClient("note.txt");
  const { etag } = await blob.upload("first", 5);
  const conditions = { ifMatch: etag ?? "" };
  await blob.upload("somebody else's", 15);
  await conflict("update with the old ETag", blob.upload("mine", 4, { conditions }));
  const now = await blob.getProperties();
  await blob.upload("mine", 4, { conditions: { ifMatch: now.etag ?? "" } });
  console.log("  update with the new ETag: done");
}

async function blobsPessimistic(): Promise<void> {
  console.log("Blob, pessimistic: a lease of 15 s");
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
  const blob = container.getBlockBlobClient("note.txt");
  const lease = blob.getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(15);
  await blob.upload("held", 4, { conditions: { leaseId: leaseId ?? "" } });
  console.log("  update with the lease: done");
  await conflict("update without the lease", blob.upload("not mine", 8));
  await conflict("a second lease", blob.getBlobLeaseClient().acquireLease(15));
  console.log(`  read without the lease: ${await blob.downloadToBuffer()}`);
  await lease.releaseLease();
  await container.delete();
}

async function entities(): Promise<void> {
  console.log("Table: an entity's ETag, and * for the last writer wins");
  const table = TableClient.fromConnectionString(connection, name, {
    allowInsecureConnection: true,
  });
  await table.createTable();
  const customer = { partitionKey: "customers", rowKey: "1", name: "Ada" };
  const { etag } = await table.createEntity(customer);
  await table.updateEntity({ ...customer, name: "Grace" }, "Replace", { etag: "*" });
  const late = { ...customer, name: "Edsger" };
  await conflict(
    "replace with the old ETag",
    table.updateEntity(late, "Replace", { etag: etag ?? "" }),
  );
  await table.updateEntity(late, "Replace", { etag: "*" });
  const found = await table.getEntity<typeof customer>("customers", "1");
  console.log(`  replace with *: done, the name is ${found.name}`);
  await table.deleteTable();
}

async function messages(): Promise<void> {
  console.log("Queue: a message belongs to who holds its latest pop receipt");
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient(name);
  await queue.create();
  await queue.sendMessage("work");
  const [got] = (await queue.receiveMessages({ visibilityTimeout: 30 })).receivedMessageItems;
  if (got === undefined) throw new Error("the message is gone");
  const hidden = await queue.receiveMessages();
  console.log(`  others see ${hidden.receivedMessageItems.length} messages meanwhile`);
  const updated = await queue.updateMessage(got.messageId, got.popReceipt, "half done", 30);
  await conflict("delete with the old receipt", queue.deleteMessage(got.messageId, got.popReceipt));
  await queue.deleteMessage(got.messageId, updated.popReceipt ?? "");
  console.log("  delete with the new receipt: done");
  await queue.delete();
}

/** Tells how something that must fail has failed. */
async function conflict(what: string, attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const code = (error.details as { odataError?: { code?: string } })?.odataError?.code;
    console.log(`  ${what}: ${error.statusCode} ${code ?? error.code}`);
    return;
  }
  throw new Error(`${what} was not refused`);
}
