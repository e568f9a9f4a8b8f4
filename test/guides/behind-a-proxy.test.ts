import assert from "node:assert/strict";
import dns from "node:dns";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { freePort } from "../command/free-ports.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { readBlocks } from "./blocks.ts";
import { Reader } from "./reader.ts";

const skip =
  process.getuid?.() === 0
    ? (skipWithoutDebianProgram("nginx", "nginx-light") ??
      skipWithoutDebianProgram("openssl", "openssl"))
    : "Debian's nginx writes to folders of root";
type LookedUp = (error: null, addresses: { address: string; family: number }[]) => void;

const LARGE_BYTES = 20_000_000;

test("SDK clients work through the guide's proxy, by the domains of an account", {
  skip: skip ?? false,
}, async (t) => {
  const reader = new Reader(await freePort());
  t.after(() => reader.close());
  const blocks = readBlocks("docs/guides/behind-a-proxy.md");
  const started = blocks.findIndex(({ text }) => text.startsWith("nginx "));
  for (const block of blocks.slice(0, started + 1)) await reader.follow(block);

  const [key = ""] = JSON.parse(readFileSync(join(reader.folder, "lazuli.json"), "utf8"))
    .accounts[0].keys;
  const endpoints = ["Blob", "Queue"].map(
    (name) => `${name}Endpoint=https://${name.toLowerCase()}s.shop.example:${reader.proxyPort}`,
  );
  const account = `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${key}`;
  const connection = `${account};${endpoints.join(";")}`;
  // Stands for a name server that knows the domains.
  t.mock.method(dns, "lookup", (_name: unknown, _options: unknown, done: LookedUp) =>
    done(null, [{ address: "127.0.0.1", family: 4 }]),
  );
  const ca = readFileSync(join(reader.folder, "cert.pem"), "utf8");
  const trusting = { tlsOptions: { ca } } as object;

  const service = BlobServiceClient.fromConnectionString(connection, trusting);
  const container = service.getContainerClient("box");
  await container.create();
  const name = "a folder/ü+&%2F 'x'.txt";
  const body = Buffer.alloc(LARGE_BYTES, "lazuli");
  const blob = container.getBlockBlobClient(name);
  await blob.uploadData(body, { maxSingleShotSize: LARGE_BYTES, metadata: { made_by: "test" } });
  assert.deepEqual(await blob.downloadToBuffer(), body);
  assert.deepEqual((await blob.getProperties()).metadata, { made_by: "test" });
  const queues = QueueServiceClient.fromConnectionString(connection, trusting);
  await queues.createQueue("work");
  await queues.getQueueClient("work").sendMessage("1");
});
