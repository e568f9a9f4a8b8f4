/**
 * Tables have no locks of their own: programs that need one lease an agreed blob. Three workers
 * add to one counter, each reading and writing without any condition; the lease keeps them apart.
 *
 *     node dist/examples/table-lock.js [connection string]
 */
import { randomUUID } from "node:crypto";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient, type BlockBlobClient, RestError } from "@azure/storage-blob";

const WORKERS = 3;
const ROUNDS = 10;

const connection = process.argv[2] ?? "UseDevelopmentStorage=true";
const name = `lock${randomUUID().replaceAll("-", "")}`;

const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
const lock = container.getBlockBlobClient("counter.lock");
const table = TableClient.fromConnectionString(connection, name, { allowInsecureConnection: true });

await container.create();
await lock.upload("", 0);
await table.createTable();
await table.createEntity({ partitionKey: "counters", rowKey: "visits", value: 0 });

await Promise.all(Array.from({ length: WORKERS }, work));

const { value } = await table.getEntity<{ value: number }>("counters", "visits");
console.log(`${WORKERS} workers added ${ROUNDS} each: ${value}`);
await table.deleteTable();
await container.delete();

async function work(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await withLease(lock, async () => {
      const counter = await table.getEntity<{ value: number }>("counters", "visits");
      await table.upsertEntity(
        { partitionKey: "counters", rowKey: "visits", value: counter.value + 1 },
        "Replace",
      );
    });
  }
}

/** Tries until nobody else holds the lease. Should this process die, the lease ends in 15 s. */
async function withLease(blob: BlockBlobClient, body: () => Promise<void>): Promise<void> {
  const lease = blob.getBlobLeaseClient();
  for (;;) {
    try {
      await lease.acquireLease(15);
      break;
    } catch (error) {
      if (!(error instanceof RestError) || error.code !== "LeaseAlreadyPresent") throw error;
    }
  }
  try {
    await body();
  } finally {
    await lease.releaseLease();
  }
}
