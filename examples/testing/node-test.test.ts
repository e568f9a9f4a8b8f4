// A test with node:test: each run gets a server of its own, in memory and on free ports.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { type RunningServer, start } from "lazuli";

let lazuli: RunningServer;
let container: ContainerClient;

before(async () => {
  lazuli = await start({ services: ["blob"] });
  container = BlobServiceClient.fromConnectionString(lazuli.connectionString).getContainerClient(
    "notes",
  );
  await container.create();
});

after(() => lazuli.stop());

test("of two updates of the same state, the second is refused", async () => {
  const blob = container.getBlockBlobClient("today.txt");
  const { etag = "" } = await blob.upload("first", 5);
  await blob.upload("second", 6, { conditions: { ifMatch: etag } });
  await assert.rejects(blob.upload("third", 5, { conditions: { ifMatch: etag } }), {
    statusCode: 412,
  });
});
