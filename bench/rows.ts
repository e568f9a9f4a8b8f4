import { DATALAKE_ROWS } from "./datalake-rows.ts";
import { FILE_ROWS } from "./file-rows.ts";
import { answerTo } from "./load.ts";
import { memoryWithManyBlobs, startUpWithManyBlobs, startUpWithNothing } from "./many-blobs.ts";
import { listAmongMillion, readAmongMillion } from "./million-blobs.ts";
import { memoryOfParallelBodies } from "./parallel-bodies.ts";
import { QUEUE_ROWS } from "./queue-rows.ts";
import { range, upTo } from "./range.ts";
import type { Reading } from "./reading.ts";
import {
  appendBlock,
  copyBlob,
  createBlob,
  createContainer,
  getBlob,
  headBlob,
  listBlobs,
  putBlob,
  putBlock,
  putBlockFromUrl,
  putBlockList,
  putPage,
} from "./requests.ts";
import { RoundRobin } from "./round-robin.ts";
import {
  type Bench,
  below,
  cpuTimesBlob,
  cpuTimesFloor,
  cpuTimesUnobserved,
  flat,
  type Row,
  timesAzurite,
} from "./row.ts";
import type { ServerName, Target } from "./server.ts";
import { SMB_ROWS } from "./smb-rows.ts";
import { TABLE_ROWS } from "./table-rows.ts";
import { transferRows } from "./transfer-rows.ts";

/** Servers that speak HTTP. */
const ALL: readonly ServerName[] = ["lazuli", "floor", "azurite"];
const SMALL_BYTES = 4 * 1024;
const LARGE_MIB = 100;
const LARGE = { index: 0, bytes: LARGE_MIB * 1024 * 1024 };
/** A blob of 1 GiB in blocks of 4 MiB, so that it is never in memory as a whole. */
const LARGEST = { index: 0, bytes: 4 * 1024 * 1024 };
const LARGEST_BLOCKS = 256;
const LISTED_BLOBS = 5_000;
const LISTED_BYTES = 100;
const BLOCK_BYTES = 64 * 1024;
const LISTED_BLOCKS = 10;
/** Fewer large requests, as the generator holds all of them in memory. */
const BLOCK_VARIANTS = 200;
/**
 * Different requests that the generator cycles through: each blob is written and read many times.
 */
const VARIANTS = 2_000;
/** Each is written once: enough to get past the server's JIT compilation. */
const NEW_BLOBS = { lazuli: 120_000, observed: 0, floor: 120_000, azurite: 3_000, samba: 0 };

export const ROWS: readonly Row[] = [
  {
    name: "Put Blob 4 KiB",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesFloor(4)],
    measure: onFresh(putSmallBlobs),
  },
  {
    name: "Put Blob 4 KiB, each under a new name",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesFloor(4)],
    measure: onFresh((target, { load }, server) =>
      load.once(
        target,
        range(NEW_BLOBS[server], (index) => putBlob(target, { index, bytes: SMALL_BYTES })),
      ),
    ),
  },
  {
    name: "Get Blob 4 KiB",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesFloor(2.5)],
    measure: onFresh(getSmallBlobs),
  },
  {
    name: "Put Blob 4 KiB, observed",
    unit: "req/s",
    servers: ["lazuli", "observed"],
    bars: [cpuTimesUnobserved(1.05)],
    measure: onFresh(putSmallBlobs),
  },
  {
    name: "Get Blob 4 KiB, observed",
    unit: "req/s",
    servers: ["lazuli", "observed"],
    bars: [cpuTimesUnobserved(1.05)],
    measure: onFresh(getSmallBlobs),
  },
  {
    name: "Head Blob",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesFloor(2.5)],
    measure: onFresh(async (target, { load }) => {
      await load.each(target, variants(target, putBlob));
      return load.many(target, variants(target, headBlob));
    }),
  },
  {
    name: "Append Block 4 KiB",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesBlob(1.5)],
    measure: besidePutBlob(async (target, { load }) => {
      await load.each(target, variants(target, emptyAppendBlob));
      return load.many(target, variants(target, appendBlock));
    }),
  },
  {
    name: "Put Page 4 KiB",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10), cpuTimesBlob(1.5)],
    measure: besidePutBlob(async (target, { load }) => {
      await load.each(target, variants(target, emptyPageBlob));
      return load.many(target, variants(target, putPage));
    }),
  },
  {
    name: "Put Block 64 KiB",
    unit: "req/s",
    servers: ALL,
    bars: [timesAzurite(10)],
    measure: onFresh((target, { load }) => load.many(target, blocks(target, 0))),
  },
  {
    name: "Put Block List of 10 blocks",
    unit: "req/s",
    servers: ["lazuli", "azurite"],
    bars: [timesAzurite(10)],
    measure: onFresh(async (target, { load }) => {
      for (let at = 0; at < LISTED_BLOCKS; at++) await load.each(target, blocks(target, at));
      // Alternates the order of the blocks, so that no commit repeats the current list.
      const lists = (order: readonly number[]) =>
        range(BLOCK_VARIANTS, (index) =>
          putBlockList(target, { index, bytes: BLOCK_BYTES }, order),
        );
      const up = upTo(LISTED_BLOCKS);
      return load.many(target, [...lists(up), ...lists([...up].reverse())]);
    }),
  },
  {
    name: "Upload 100 MiB",
    unit: "MiB/s",
    servers: ALL,
    bars: [timesAzurite(3)],
    measure: onFresh(async (target, { load }) =>
      inMib(await load.single(target, [putBlob(target, LARGE)])),
    ),
  },
  {
    name: "Download 100 MiB",
    unit: "MiB/s",
    servers: ALL,
    bars: [timesAzurite(3)],
    measure: onFresh(async (target, { load }) => {
      await load.each(target, [putBlob(target, LARGE)]);
      return inMib(await load.single(target, [getBlob(target, LARGE)]));
    }),
  },
  {
    name: "Copy 1 GiB on the same server",
    unit: "ms",
    servers: ["lazuli"],
    bars: [below(50, "ms")],
    measure: onFresh((target, bench) => timeWithLargest(target, bench, copyBlob)),
  },
  {
    name: "Put Block From URL, 1 GiB",
    unit: "ms",
    servers: ["lazuli"],
    bars: [below(50, "ms")],
    measure: onFresh((target, bench) => timeWithLargest(target, bench, putBlockFromUrl)),
  },
  {
    name: "List 5,000 blobs",
    unit: "req/s",
    servers: ["lazuli", "azurite"],
    bars: [timesAzurite(20)],
    measure: onFresh(async (target, { load }) => {
      const puts = range(LISTED_BLOBS, (index) => putBlob(target, { index, bytes: LISTED_BYTES }));
      await load.each(target, puts);
      const list = listBlobs(target);
      const found = (await answerTo(target, list)).match(/<Blob>/g)?.length ?? 0;
      if (found !== LISTED_BLOBS) throw new Error(`The list has ${found} blobs.`);
      return load.single(target, [list]);
    }),
  },
  {
    name: "Start-up on an empty folder",
    unit: "ms",
    servers: ["lazuli"],
    bars: [below(300, "ms")],
    measure: (_, bench) => startUpWithNothing(bench),
  },
  {
    name: "Start-up with 100,000 blobs",
    unit: "ms",
    servers: ["lazuli"],
    bars: [below(350, "ms")],
    measure: (_, bench) => startUpWithManyBlobs(bench),
  },
  {
    name: "Memory with 100,000 blobs",
    unit: "MiB",
    servers: ["lazuli"],
    bars: [flat(1.5)],
    measure: (_, bench) => memoryWithManyBlobs(bench),
  },
  {
    name: "Memory of 64 × 256 MiB up and down",
    unit: "MiB",
    servers: ["lazuli"],
    bars: [below(512, "MiB")],
    isLong: true,
    measure: (_, bench) => memoryOfParallelBodies(bench),
  },
  {
    name: "Get Blob among 1,000,000",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.3)],
    isLong: true,
    measure: (_, bench) => readAmongMillion(bench),
  },
  {
    name: "List 1,000 of 1,000,000 blobs",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.3)],
    isLong: true,
    measure: (_, bench) => listAmongMillion(bench),
  },
  ...QUEUE_ROWS,
  ...TABLE_ROWS,
  ...FILE_ROWS,
  ...DATALAKE_ROWS,
  ...SMB_ROWS,
  ...transferRows(
    (bench) => onFresh(putSmallBlobs)("lazuli", bench),
    (bench) => onFresh(getSmallBlobs)("lazuli", bench),
  ),
];

type Run = (target: Target, bench: Bench, server: ServerName) => Promise<Reading>;

/** Measures on a server with one empty container. */
function onFresh(run: Run): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (target) => {
      await answerTo(target, createContainer(target));
      return run(target, bench, server);
    });
}

/**
 * Measures like `onFresh`, and our own server alternating with Put Blob on another fresh one, so
 * that the background work of one does not slow the other.
 */
function besidePutBlob(run: Run): Row["measure"] {
  return async (server, bench) => {
    if (server !== "lazuli") return onFresh(run)(server, bench);
    const slots = new RoundRobin();
    const both = { ...bench, load: bench.load.in(slots) };
    const alternating = (each: Run) =>
      onFresh((target) => slots.run(target.pid, () => each(target, both, server)))(server, bench);
    const [blob, reading] = await Promise.all([alternating(putSmallBlobs), alternating(run)]);
    return { ...reading, blob };
  };
}

async function getSmallBlobs(target: Target, { load }: Bench): Promise<Reading> {
  await load.each(target, variants(target, putBlob));
  return load.many(target, variants(target, getBlob));
}

function putSmallBlobs(target: Target, { load }: Bench): Promise<Reading> {
  return load.many(target, variants(target, putBlob));
}

/** Measures how long a request on a blob of 1 GiB takes. */
async function timeWithLargest(
  target: Target,
  { load }: Bench,
  make: typeof copyBlob,
): Promise<Reading> {
  await load.each(target, blocksOfLargest(target));
  await answerTo(target, putBlockList(target, LARGEST, upTo(LARGEST_BLOCKS)));
  const reading = await load.single(target, [make(target, LARGEST)]);
  return { ...reading, value: reading.p50Ms ?? 0 };
}

/** Yields one block at a time, as all would not fit into memory. */
function* blocksOfLargest(target: Target): Iterable<Buffer> {
  for (let block = 0; block < LARGEST_BLOCKS; block++) yield putBlock(target, LARGEST, block);
}

const emptyAppendBlob: typeof putBlob = (target, blob) => createBlob(target, "AppendBlob", blob);
const emptyPageBlob: typeof putBlob = (target, blob) => createBlob(target, "PageBlob", blob);

function variants(target: Target, make: typeof putBlob): Buffer[] {
  return range(VARIANTS, (index) => make(target, { index, bytes: SMALL_BYTES }));
}

function blocks(target: Target, block: number): Buffer[] {
  return range(BLOCK_VARIANTS, (index) => putBlock(target, { index, bytes: BLOCK_BYTES }, block));
}

function inMib(reading: Reading): Reading {
  return { ...reading, value: reading.value * LARGE_MIB };
}
