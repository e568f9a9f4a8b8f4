import assert from "node:assert/strict";
import { createHash, randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  BlobServiceClient,
  type BlockBlobClient,
  type ContainerClient,
  RestError,
} from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { startProcess } from "./server-process.ts";

const ROUNDS = 10;
const WRITERS = 8;
const ACKNOWLEDGED_BEFORE_KILL_MAX = 120;
const SIZES = [100, 4_096, 16_384, 16_385, 100_000, 1_500_000];

/**
 * What one writer knows of its one blob. After a kill the blob is in the state that was acknowledged
 * last, or in the one that was asked for when the answer stayed out. Nothing else is possible.
 */
interface Known {
  acknowledged: State;
  asked: { readonly state: State } | null;
}

/** The SHA-256 of the content, or null for no blob. */
type State = string | null;

test(`nothing acknowledged is lost and nothing is half visible in ${ROUNDS} kills`, async (t) => {
  const location = await mkdtemp(join(tmpdir(), "lazuli-kill-"));
  t.after(() => rm(location, { recursive: true, force: true }));
  const known: Known[] = Array.from({ length: WRITERS }, () => ({
    acknowledged: null,
    asked: null,
  }));
  let acknowledgedInAll = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startProcess(location);
    const container = containerAt(server.url);
    await container.createIfNotExists();
    await Promise.all(known.map((one, writer) => check(container, writer, one)));
    const killAfter = randomInt(1, ACKNOWLEDGED_BEFORE_KILL_MAX);
    let acknowledged = 0;
    let killed: Promise<void> | null = null;
    const acknowledge = () => {
      acknowledged++;
      if (acknowledged >= killAfter) killed ??= server.kill();
    };
    await Promise.all(known.map((one, writer) => write(container, writer, one, acknowledge)));
    await killed;
    acknowledgedInAll += acknowledged;
  }
  const server = await startProcess(location);
  await Promise.all(known.map((one, writer) => check(containerAt(server.url), writer, one)));
  assert.equal(await server.stop(), 0);
  t.diagnostic(`${acknowledgedInAll} acknowledged writes survived ${ROUNDS} kills`);
});

function containerAt(url: string): ContainerClient {
  const client = new BlobServiceClient(url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
  return client.getContainerClient("kills");
}

/** Writes until the server is gone. */
async function write(
  container: ContainerClient,
  writer: number,
  known: Known,
  acknowledge: () => void,
): Promise<void> {
  const blob = container.getBlockBlobClient(`writer-${writer}`);
  for (;;) {
    const isThere = known.acknowledged !== null;
    const kind = randomInt(10);
    const bytes = Buffer.alloc(SIZES[randomInt(SIZES.length)] as number, randomInt(256));
    bytes.writeUInt32LE(randomInt(2 ** 32 - 1), 0);
    const state = isThere && kind === 0 ? null : digest(bytes);
    known.asked = { state };
    try {
      if (state === null) await blob.delete();
      else if (kind < 4) await putBlocks(blob, bytes);
      else await blob.upload(bytes, bytes.length);
    } catch (error) {
      if (error instanceof RestError && error.statusCode !== undefined) throw error;
      return;
    }
    known.acknowledged = state;
    known.asked = null;
    acknowledge();
  }
}

async function putBlocks(blob: BlockBlobClient, bytes: Buffer): Promise<void> {
  const half = bytes.length >> 1;
  const parts = [bytes.subarray(0, half), bytes.subarray(half)];
  const ids = ["AAAA", "BBBB"];
  await Promise.all(parts.map((part, at) => blob.stageBlock(ids[at] as string, part, part.length)));
  await blob.commitBlockList(ids);
}

async function check(container: ContainerClient, writer: number, known: Known): Promise<void> {
  const found = await download(container.getBlockBlobClient(`writer-${writer}`));
  if (found === known.acknowledged) return;
  const lost = `writer ${writer} lost what was acknowledged`;
  assert.ok(known.asked !== null, lost);
  assert.equal(found, known.asked.state, lost);
  known.acknowledged = found;
}

async function download(blob: BlockBlobClient): Promise<State> {
  try {
    return digest(await blob.downloadToBuffer());
  } catch (error) {
    if (error instanceof RestError && error.statusCode === 404) return null;
    throw error;
  }
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
