import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import { checkBlobList, containerAt, Writer } from "./load.ts";
import { startProcess } from "./server-process.ts";
import { sweepFolder } from "./space.ts";
import { writeUntilKilled } from "./write-until-killed.ts";

/** The soak sets more. */
const ROUNDS = Number(process.env.LAZULI_KILL_ROUNDS ?? 20);
const WRITERS = 8;

test(`${ROUNDS} kills lose no acknowledged write, and leave nothing behind`, async (t) => {
  const location = await mkdtemp(join(tmpdir(), "lazuli-kill-"));
  t.after(() => rm(location, { recursive: true, force: true }));
  const writers = Array.from({ length: WRITERS }, (_, at) => new Writer(`writer-${at}`));
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startProcess(location);
    const container = containerAt(server.url);
    await container.createIfNotExists();
    await check(container, writers);
    const writes = writers.map(
      (writer) => (acknowledge: () => void) => writer.write(container, acknowledge),
    );
    acknowledged += await writeUntilKilled(server, writes);
  }
  t.diagnostic(`${acknowledged} acknowledged writes survived ${ROUNDS} kills`);

  await onServer(location, (container) => check(container, writers));
  await checkSpaceInUse(location, writers);
  await onServer(location, async (container) => {
    await check(container, writers);
    await container.delete();
  });
  const nothing = { extentBytes: 0, contentRecords: 0, uncommittedRecords: 0 };
  assert.deepEqual(await sweepFolder(location), nothing);
});

/** Checks that each blob is whole, and that a listing shows these blobs and no others. */
async function check(container: ContainerClient, writers: readonly Writer[]): Promise<void> {
  await Promise.all(writers.map((writer) => writer.check(container)));
  await checkBlobList(container, writers);
}

async function onServer(
  location: string,
  use: (container: ContainerClient) => Promise<void>,
): Promise<void> {
  const server = await startProcess(location);
  try {
    await use(containerAt(server.url));
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

/** Extents are not compacted while half of their bytes are live; the rest is checksums. */
async function checkSpaceInUse(location: string, writers: readonly Writer[]): Promise<void> {
  const alive = writers.reduce((sum, { length }) => sum + (length ?? 0), 0);
  const { extentBytes, uncommittedRecords } = await sweepFolder(location);
  assert.equal(uncommittedRecords, 0);
  assert.ok(extentBytes <= 2.1 * alive + MIB, `${extentBytes} bytes of extents for ${alive}`);
}
