import { randomBytes } from "node:crypto";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import {
  StorageSharedKeyCredential as FileCredential,
  ShareServiceClient,
} from "@azure/storage-file-share";
import {
  StorageSharedKeyCredential as QueueCredential,
  QueueServiceClient,
} from "@azure/storage-queue";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

/** How many objects of each kind `fillData` creates. */
export const OBJECTS = 20;
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const ACCOUNT = "devstoreaccount1";
const once = { retryOptions: { maxTries: 1 } };

/** Starts a server on this folder, on free ports. */
export function startOn(
  location: string,
  env: Readonly<Record<string, string>> = {},
  ...flags: string[]
): LazuliProcess {
  return new LazuliProcess(["--location", location, ...ANY_PORTS, ...flags], env);
}

/** Makes clients of a running server, without retries. */
export async function clientsOf(lazuli: LazuliProcess) {
  const blobs = new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL, once);
  const queues = new QueueServiceClient(
    await lazuli.urlOf("Queue"),
    new QueueCredential(ACCOUNT, KEY),
    once,
  );
  const files = new ShareServiceClient(
    await lazuli.urlOf("File"),
    new FileCredential(ACCOUNT, KEY),
    once,
  );
  const table = new TableClient(
    await lazuli.urlOf("Table"),
    "things",
    new AzureNamedKeyCredential(ACCOUNT, KEY),
    { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } },
  );
  const box = blobs.getContainerClient("box");
  const queue = queues.getQueueClient("jobs");
  const share = files.getShareClient("papers");
  return { blobs, queues, files, box, queue, share, table };
}

export interface Filled {
  /** The whole content of the blob "large 0". */
  readonly large: Buffer;
  readonly messageIds: readonly string[];
}

/** Creates objects of every service, some in records and some in extents. */
export async function fillData(lazuli: LazuliProcess): Promise<Filled> {
  const { box, queue, share, table } = await clientsOf(lazuli);
  await Promise.all([box.create(), queue.create(), share.create(), table.createTable()]);
  const messageIds: string[] = [];
  for (let at = 0; at < OBJECTS; at++) {
    await box.getBlockBlobClient(`blob-${at}.`).upload(randomBytes(3_000), 3_000);
    await table.createEntity({ partitionKey: "part", rowKey: `row-${at}.`, text: "x" });
    messageIds.push((await queue.sendMessage(`text ${at}`)).messageId);
    const file = share.rootDirectoryClient.getFileClient(`Paper-${at}.TXT`);
    await file.create(3_000);
    await file.uploadRange(randomBytes(3_000), 0, 3_000);
  }
  const large = randomBytes(300_000);
  await box.getBlockBlobClient("large 0").upload(large, large.length);
  return { large, messageIds };
}

/** Copies a data folder that no server uses. */
export function copyData(from: string, to: string): void {
  // Locks are sockets, which cannot be copied.
  const filter = (path: string) => !basename(path).startsWith("lock");
  cpSync(from, to, { recursive: true, filter });
}

/**
 * Flips a bit `skip` bytes after each occurrence of these bytes in the database; returns how many.
 */
export function flipInDatabase(location: string, found: Buffer | string, skip: number): number {
  return flipIn(join(location, "store", "data.mdb"), Buffer.from(found as string), skip);
}

/**
 * Flips a bit `skip` bytes after each occurrence of these bytes in the extents; returns how many.
 */
export function flipInExtents(location: string, found: Buffer, skip: number): number {
  const folder = join(location, "extents");
  let flips = 0;
  for (const name of readdirSync(folder)) flips += flipIn(join(folder, name), found, skip);
  return flips;
}

function flipIn(path: string, found: Buffer, skip: number): number {
  const bytes = readFileSync(path);
  let flips = 0;
  for (let at = bytes.indexOf(found); at >= 0; at = bytes.indexOf(found, at + 1)) {
    bytes[at + skip] = (bytes[at + skip] as number) ^ 0x10;
    flips++;
  }
  writeFileSync(path, bytes);
  return flips;
}
