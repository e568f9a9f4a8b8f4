import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_BYTES_MAX } from "../../src/base/limits.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { forThisFile, startServer } from "./server.ts";

/** As much metadata as a thing can have; in XML each of these characters takes five. */
const METADATA = { note: "&".repeat(8_000) };
/** What all of them take in a list is about 1.2 times what one answer may have. */
const COUNT = Math.ceil((1.2 * LIST_BYTES_MAX) / (5 * METADATA.note.length));
const NAMES = Array.from({ length: COUNT }, (_, at) => `thing-${String(at).padStart(3, "0")}`);
const WITH_METADATA = { includeMetadata: true };

/** A page of results has the names of its items. */
async function assertTwoPages(pages: AsyncIterable<readonly string[]>): Promise<void> {
  const found: (readonly string[])[] = [];
  for await (const page of pages) found.push(page);
  assert.equal(found.length, 2, "an answer ends at its size, and the next one goes on");
  assert.deepEqual(found.flat(), NAMES);
}

async function* namesOf<P>(pages: AsyncIterable<P>, itemsOf: (page: P) => readonly Named[]) {
  for await (const page of pages) yield itemsOf(page).map(({ name }) => name);
}

interface Named {
  readonly name: string;
}

test("a list of blobs ends early where their metadata is long, and goes on behind its marker", async () => {
  const server = await forThisFile(startServer());
  const container = await server.makeContainer();
  for (const name of NAMES) {
    await container.getBlockBlobClient(name).upload("", 0, { metadata: METADATA });
  }
  const pages = container.listBlobsFlat(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ segment }) => segment.blobItems));
});

test("so does a list of containers", async () => {
  const server = await forThisFile(startServer());
  const client = server.client();
  for (const name of NAMES) await client.createContainer(name, { metadata: METADATA });
  const pages = client.listContainers(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ containerItems }) => containerItems));
});

test("so does a list of queues", async () => {
  const server = await forThisFile(startQueueServer());
  const client = server.client();
  for (const name of NAMES) await client.getQueueClient(name).create({ metadata: METADATA });
  const pages = client.listQueues(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ queueItems }) => queueItems ?? []));
});

test("so does a list of shares", async () => {
  const server = await forThisFile(startFileServer());
  const client = server.client();
  for (const name of NAMES) await client.getShareClient(name).create({ metadata: METADATA });
  const pages = client.listShares(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ shareItems }) => shareItems ?? []));
});
