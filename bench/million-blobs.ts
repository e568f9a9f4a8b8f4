import { fewAndMany } from "./few-and-many.ts";
import { answerTo } from "./load.ts";
import type { Reading } from "./reading.ts";
import { createContainer, getBlob, listBlobs, putBlob } from "./requests.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

const MILLION = 1_000_000;
const FEW = 1_000;
const BLOB_BYTES = 100;
const PAGE_BLOBS = 1_000;
/** Blobs that are read, spread over the container. */
const READ_BLOBS = 2_000;
/** Requests are made in parts, as signatures are valid for 15 minutes. */
const PART_BLOBS = 50_000;

interface Costs {
  readonly read: Reading;
  readonly list: Reading;
}

let measured: Promise<{ few: Costs; many: Costs }> | null = null;

export async function readAmongMillion(bench: Bench): Promise<Reading> {
  const { few, many } = await costs(bench);
  return grown(few.read, many.read);
}

export async function listAmongMillion(bench: Bench): Promise<Reading> {
  const { few, many } = await costs(bench);
  return grown(few.list, many.list);
}

/** Compares the server's processor time, which excludes the generator and the disk. */
function grown(few: Reading, many: Reading): Reading {
  return {
    value: many.cpuMicros ?? 0,
    inTheSmall: few.cpuMicros ?? 0,
    note: `CPU per request; small: 1,000 blobs`,
  };
}

/** Shared by both rows, as the blobs take minutes to write. */
function costs(bench: Bench): Promise<{ few: Costs; many: Costs }> {
  measured ??= fewAndMany(bench, {
    few: FEW,
    many: MILLION,
    async fill(target, count) {
      await answerTo(target, createContainer(target));
      for (let start = 0; start < count; start += PART_BLOBS) {
        await bench.load.fill(target, puts(target, start, Math.min(start + PART_BLOBS, count)));
      }
    },
    measure: costsAmong,
  });
  return measured;
}

function* puts(target: Target, from: number, until: number): Generator<Buffer> {
  for (let index = from; index < until; index++)
    yield putBlob(target, { index, bytes: BLOB_BYTES });
}

async function costsAmong(target: Target, blobs: number, { load }: Bench): Promise<Costs> {
  const gets = Array.from({ length: READ_BLOBS }, (_, at) => {
    const index = Math.floor((at * blobs) / READ_BLOBS);
    return getBlob(target, { index, bytes: BLOB_BYTES });
  });
  const read = await load.many(target, gets);
  const list = await load.single(target, [listBlobs(target, PAGE_BLOBS)]);
  return { read, list };
}
