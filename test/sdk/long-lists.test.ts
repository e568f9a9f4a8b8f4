import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_BYTES_MAX } from "../../src/base/limits.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { forThisFile, startServer } from "./server.ts";

/** The most metadata that an item can have; each of these characters takes five in XML. */
const METADATA = { note: "&".repeat(8_000) };
/** Together they take about 1.2 times the limit of one response. */
const COUNT = Math.ceil((1.2 * LIST_BYTES_MAX) / (5 * METADATA.note.length));
const NAMES = Array.from({ length: COUNT }, (_, at) => `thing-${String(at).padStart(3, "0")}`);
const WITH_METADATA = { includeMetadata: true };

/** Asserts that a list has two pages, which together have all names. */
async function assertTwoPages(pages: AsyncIterable<readonly string[]>): Promise<void> {
  const found: (readonly string[])[] = [];
  for await (const page of pages) found.push(page);
  assert.equal(found.length, 2, "a response ends at its limit, and the next one continues");
  assert.deepEqual(found.flat(), NAMES);
}

async function* namesOf<P>(pages: AsyncIterable<P>, itemsOf: (page: P) => readonly Named[]) {
  for await (const page of pages) yield itemsOf(page).map(({ name }) => name);
}

interface Named {
  readonly name: string;
}

test("a list of blobs with long metadata ends early and continues from its marker", async () => {
  const server = await forThisFile(startServer());
  const container = await server.makeContainer();
  for (const name of NAMES) {
    await container.getBlockBlobClient(name).upload("", 0, { metadata: METADATA });
  }
  const pages = container.listBlobsFlat(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ segment }) => segment.blobItems));
});

test("a list of containers with long metadata ends early and continues from its marker", async () => {
  const server = await forThisFile(startServer());
  const client = server.client();
  for (const name of NAMES) await client.createContainer(name, { metadata: METADATA });
  const pages = client.listContainers(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ containerItems }) => containerItems));
});

test("a list of queues with long metadata ends early and continues from its marker", async () => {
  const server = await forThisFile(startQueueServer());
  const client = server.client();
  for (const name of NAMES) await client.getQueueClient(name).create({ metadata: METADATA });
  const pages = client.listQueues(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ queueItems }) => queueItems ?? []));
});

test("a list of shares with long metadata ends early and continues from its marker", async () => {
  const server = await forThisFile(startFileServer());
  const client = server.client();
  for (const name of NAMES) await client.getShareClient(name).create({ metadata: METADATA });
  const pages = client.listShares(WITH_METADATA).byPage();
  await assertTwoPages(namesOf(pages, ({ shareItems }) => shareItems ?? []));
});
