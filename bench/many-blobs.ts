import { answerTo } from "./load.ts";
import { type Memory, memoryOfTree } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { createContainer, deleteBlob, putBlob } from "./requests.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

const MANY = 100_000;
const FEW = 1_000;
/**
 * Rewrites the few blobs this often under new names, so that both memory readings are of a warm
 * server: rewriting a name in place would not grow memory.
 */
const ROUNDS_OF_FEW = 30;
const BLOB_BYTES = 1_024;
const MIB = 1024 * 1024;
const STARTS = 10;

interface ManyBlobs {
  readonly folder: string;
  readonly withFew: Memory;
  readonly withMany: Memory;
}

let filled: Promise<ManyBlobs> | null = null;

export async function startUpWithNothing(bench: Bench): Promise<Reading> {
  return { value: await startUp(bench, () => bench.servers.newFolder()) };
}

export async function startUpWithManyBlobs(bench: Bench): Promise<Reading> {
  const { folder } = await manyBlobs(bench);
  return { value: await startUp(bench, () => folder) };
}

export async function memoryWithManyBlobs(bench: Bench): Promise<Reading> {
  const { withFew, withMany } = await manyBlobs(bench);
  const resident = [withFew, withMany].map((memory) => Math.round(memory.residentBytes / MIB));
  return {
    value: withMany.ownBytes / MIB,
    inTheSmall: withFew.ownBytes / MIB,
    note: `small: 1,000 blobs; with mapped files ${resident.join(" and ")} MiB`,
  };
}

/** Shared by both rows, as the blobs take long to write. */
function manyBlobs(bench: Bench): Promise<ManyBlobs> {
  filled ??= fill(bench);
  return filled;
}

function fill({ servers, load }: Bench): Promise<ManyBlobs> {
  const folder = servers.newFolder();
  return servers.withFolder("lazuli", folder, async (target) => {
    const put = (index: number) => putBlob(target, { index, bytes: BLOB_BYTES });
    const remove = (index: number) => deleteBlob(target, { index, bytes: BLOB_BYTES });
    await answerTo(target, createContainer(target));
    await load.each(target, blobs(0, FEW, put));
    for (let round = 1; round < ROUNDS_OF_FEW; round++) {
      await load.each(target, blobs((round - 1) * FEW, round * FEW, remove));
      await load.each(target, blobs(round * FEW, (round + 1) * FEW, put));
    }
    const withFew = memoryOfTree(target.pid);
    await load.each(target, blobs(0, MANY, put));
    return { folder, withFew, withMany: memoryOfTree(target.pid) };
  });
}

function* blobs(from: number, until: number, ask: (index: number) => Buffer): Generator<Buffer> {
  for (let index = from; index < until; index++) yield ask(index);
}

/** Returns the median of several starts, each in the folder that `folderOf` returns. */
async function startUp({ servers }: Bench, folderOf: () => string): Promise<number> {
  const readyMs: number[] = [];
  const note = async (target: Target) => readyMs.push(target.readyMs);
  for (let start = 0; start < STARTS; start++) {
    await servers.withFolder("lazuli", folderOf(), note);
  }
  return readyMs.sort((a, b) => a - b)[Math.floor(STARTS / 2)] as number;
}
