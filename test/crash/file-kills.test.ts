import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  RestError,
  type ShareClient,
  type ShareFileClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { type ServerProcess, startProcess } from "./server-process.ts";
import { sweepFolder } from "./space.ts";
import { writeUntilKilled } from "./write-until-killed.ts";

const ROUNDS = 8;
const WRITERS = 8;
/** Within a record, and in extents. */
const SIZES = [100, 5_000, 40_000, 300_000];

/** What a file holds; null for no file. */
type State = Buffer | null;

/**
 * A client with one file. After a kill the file is in the state that was acknowledged last, or in
 * the one that was asked for when the answer stayed out. Nothing else is possible.
 */
class Writer {
  readonly name: string;
  #acknowledged: State = null;
  #asked: State = null;

  constructor(name: string) {
    this.name = name;
  }

  get isThere(): boolean {
    return this.#acknowledged !== null;
  }

  /** Writes until the server is gone. */
  async write(share: ShareClient, acknowledge: () => void): Promise<void> {
    const file = share.rootDirectoryClient.getFileClient(this.name);
    for (;;) {
      const { next, make } = this.#nextChange(file);
      this.#asked = next;
      try {
        await make();
      } catch (error) {
        if (error instanceof RestError && error.statusCode !== undefined) throw error;
        return;
      }
      this.#acknowledged = next;
      acknowledge();
    }
  }

  /** Takes what it finds for acknowledged. */
  async check(share: ShareClient): Promise<void> {
    const found = await contentOf(share.rootDirectoryClient.getFileClient(this.name));
    const isExpected = [this.#acknowledged, this.#asked].some((state) => isSame(state, found));
    assert.ok(isExpected, `${this.name} holds what nobody has written`);
    this.#acknowledged = found;
    this.#asked = found;
  }

  #nextChange(file: ShareFileClient): { next: State; make: () => Promise<unknown> } {
    const before = this.#acknowledged;
    const size = SIZES[randomInt(SIZES.length)] as number;
    if (before === null) return { next: Buffer.alloc(size), make: () => file.create(size) };
    switch (randomInt(6)) {
      case 0:
        return { next: null, make: () => file.delete() };
      case 1:
        return { next: Buffer.alloc(size), make: () => file.create(size) };
      case 2:
        return {
          next: Buffer.concat([before, Buffer.alloc(size)]).subarray(0, size),
          make: () => file.resize(size),
        };
      case 3: {
        const from = randomInt(before.length);
        const next = Buffer.from(before).fill(0, from);
        return { next, make: () => file.clearRange(from, before.length - from) };
      }
      default: {
        const from = randomInt(before.length);
        const bytes = randomBytes(randomInt(1, before.length - from + 1));
        const next = Buffer.from(before);
        bytes.copy(next, from);
        return { next, make: () => file.uploadRange(bytes, from, bytes.length) };
      }
    }
  }
}

function isSame(one: State, other: State): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

async function contentOf(file: ShareFileClient): Promise<State> {
  if (!(await file.exists())) return null;
  const { contentLength = 0 } = await file.getProperties();
  return contentLength === 0 ? Buffer.alloc(0) : file.downloadToBuffer();
}

test(`${ROUNDS} kills lose nothing of files that was acknowledged, and leave nothing behind`, async (t) => {
  const location = await mkdtemp(join(tmpdir(), "lazuli-file-kill-"));
  t.after(() => rm(location, { recursive: true, force: true }));
  const writers = Array.from({ length: WRITERS }, (_, at) => new Writer(`writer-${at}`));
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startProcess(location, [], "File");
    const share = shareAt(server);
    await share.createIfNotExists();
    await check(share, writers);
    if (round % 3 === 1) await share.createSnapshot();
    const writes = writers.map(
      (writer) => (acknowledge: () => void) => writer.write(share, acknowledge),
    );
    acknowledged += await writeUntilKilled(server, writes);
  }
  t.diagnostic(`${acknowledged} acknowledged writes survived ${ROUNDS} kills`);
  const server = await startProcess(location, [], "File");
  await check(shareAt(server), writers);
  await shareAt(server).delete({ deleteSnapshots: "include" });
  assert.equal(await server.stop(), 0);
  const { extentBytes, contentRecords } = await sweepFolder(location);
  assert.deepEqual({ extentBytes, contentRecords }, { extentBytes: 0, contentRecords: 0 });
});

function shareAt({ url }: ServerProcess): ShareClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const client = new ShareServiceClient(url, credential, { retryOptions: { maxTries: 1 } });
  return client.getShareClient("kills");
}

/** Each file is whole, and a listing shows them and no others. */
async function check(share: ShareClient, writers: readonly Writer[]): Promise<void> {
  await Promise.all(writers.map((writer) => writer.check(share)));
  const listed: string[] = [];
  for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories()) {
    listed.push(name);
  }
  assert.deepEqual(
    listed,
    writers.filter(({ isThere }) => isThere).map(({ name }) => name),
  );
}
