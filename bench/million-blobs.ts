import { answerTo } from "./load.ts";
import { createContainer, getBlob, listBlobs, putBlob } from "./requests.ts";
import type { Bench, Reading } from "./row.ts";
import type { Target } from "./server.ts";

const MILLION = 1_000_000;
const FEW = 1_000;
const BLOB_BYTES = 100;
const PAGE_BLOBS = 1_000;
/** Blobs that are read, from all over the container. */
const READ_BLOBS = 2_000;
/** Requests are signed for 15 minutes: they are made in parts. */
const PART_BLOBS = 50_000;

interface Costs {
  readonly read: Reading;
  readonly list: Reading;
}

let measured: Promise<{ few: Costs; million: Costs }> | null = null;

export async function readAmongMillion(bench: Bench): Promise<Reading> {
  const { few, million } = await costs(bench);
  return grown(few.read, million.read);
}

export async function listAmongMillion(bench: Bench): Promise<Reading> {
  const { few, million } = await costs(bench);
  return grown(few.list, million.list);
}

/** By the server's processor time: what the generator and the disk add does not matter here. */
function grown(few: Reading, million: Reading): Reading {
  return {
    value: million.cpuMicros ?? 0,
    inTheSmall: few.cpuMicros ?? 0,
    note: `CPU per request; small: 1,000 blobs`,
  };
}

/** Both rows want the same blobs, which take minutes to write. */
function costs(bench: Bench): Promise<{ few: Costs; million: Costs }> {
  measured ??= bench.servers.withFresh("lazuli", async (target) => {
    await answerTo(target, createContainer(target));
    await fill(bench, target, 0, FEW);
    const few = await costsAmong(bench, target, FEW);
    await fill(bench, target, FEW, MILLION);
    return { few, million: await costsAmong(bench, target, MILLION) };
  });
  return measured;
}

async function fill({ load }: Bench, target: Target, from: number, until: number): Promise<void> {
  for (let start = from; start < until; start += PART_BLOBS) {
    const end = Math.min(start + PART_BLOBS, until);
    await load.fill(target, puts(target, start, end));
  }
}

function* puts(target: Target, from: number, until: number): Generator<Buffer> {
  for (let index = from; index < until; index++)
    yield putBlob(target, { index, bytes: BLOB_BYTES });
}

async function costsAmong({ load }: Bench, target: Target, blobs: number): Promise<Costs> {
  const gets = Array.from({ length: READ_BLOBS }, (_, at) => {
    const index = Math.floor((at * blobs) / READ_BLOBS);
    return getBlob(target, { index, bytes: BLOB_BYTES });
  });
  const read = await load.many(target, gets);
  const list = await load.single(target, [listBlobs(target, PAGE_BLOBS)]);
  return { read, list };
}
