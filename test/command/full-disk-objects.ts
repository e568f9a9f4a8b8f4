import assert from "node:assert/strict";
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";
import type { LazuliProcess } from "./process.ts";

const ONCE = { retryOptions: { maxTries: 1 } };
const LEASE_SECONDS = 15;

/** Creates something of every kind that can be deleted, leased or received. */
export async function makeObjects(lazuli: LazuliProcess): Promise<void> {
  const { blobs, queues, shares, tables, table } = await clientsOf(lazuli);
  for (const name of ["leased", "deleted"]) {
    const container = blobs.getContainerClient(name);
    await container.create();
    await container.getBlockBlobClient("blob").upload("x", 1);
  }
  for (const name of ["queue", "deleted"]) {
    await queues.getQueueClient(name).create();
    for (const text of ["one", "two", "three"]) await queues.getQueueClient(name).sendMessage(text);
  }
  for (const name of ["share", "deleted"]) {
    const share = shares.getShareClient(name);
    await share.create();
    for (const file of ["leased", "by-rest", "by-smb"]) {
      await share.rootDirectoryClient.getFileClient(file).uploadData(Buffer.alloc(1_000));
    }
  }
  for (const name of ["rows", "deleted"]) {
    await tables.createTable(name);
    const row = { partitionKey: "p", rowKey: "r", text: "some text" };
    await table(name).createEntity(row);
  }
}

/** Makes calls that must all succeed on a full disk. */
export async function useOnFullDisk(lazuli: LazuliProcess): Promise<void> {
  const { blobs, queues, shares, tables, table } = await clientsOf(lazuli);
  const container = blobs.getContainerClient("leased");
  const file = shares.getShareClient("share").rootDirectoryClient.getFileClient("leased");
  const blobLease = container.getBlobClient("blob").getBlobLeaseClient();
  await useLease(blobLease);
  const containerLease = container.getBlobLeaseClient();
  await useLease(containerLease);
  await file.getShareLeaseClient().acquireLease(-1);

  const queue = queues.getQueueClient("queue");
  const [message] = (await queue.receiveMessages()).receivedMessageItems;
  assert.ok(message !== undefined);
  const { messageId, popReceipt } = message;
  const updated = await queue.updateMessage(messageId, popReceipt, "changed", 1);
  await queue.deleteMessage(messageId, updated.popReceipt ?? "");
  await queue.clearMessages();
  await queues.getQueueClient("deleted").delete();

  await table("rows").deleteEntity("p", "r");
  await tables.deleteTable("deleted");
  const root = shares.getShareClient("share").rootDirectoryClient;
  await root.getFileClient("by-rest").delete();
  await shares.getShareClient("deleted").delete();
  await container.getBlobClient("blob").delete();
  await blobs.getContainerClient("deleted").delete();
}

async function useLease(lease: {
  acquireLease(seconds: number): Promise<unknown>;
  renewLease(): Promise<unknown>;
  releaseLease(): Promise<unknown>;
  breakLease(seconds: number): Promise<unknown>;
}): Promise<void> {
  await lease.acquireLease(LEASE_SECONDS);
  await lease.renewLease();
  await lease.releaseLease();
  await lease.acquireLease(LEASE_SECONDS);
  await lease.breakLease(0);
}

async function clientsOf(lazuli: LazuliProcess) {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const tableUrl = await lazuli.urlOf("Table");
  const tableKey = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  return {
    blobs: new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL, ONCE),
    queues: new QueueServiceClient(await lazuli.urlOf("Queue"), credential, ONCE),
    shares: new ShareServiceClient(await lazuli.urlOf("File"), credential, ONCE),
    tables: new TableServiceClient(tableUrl, tableKey, options),
    table: (name: string) => new TableClient(tableUrl, name, tableKey, options),
  };
}
