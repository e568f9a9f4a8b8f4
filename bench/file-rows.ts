import { randomBytes } from "node:crypto";
import { besideBlob } from "./beside-blob.ts";
import { fewAndMany } from "./few-and-many.ts";
import {
  createFile,
  createFileWithBody,
  createShare,
  getFile,
  headFile,
  listFiles,
  putRange,
} from "./file-requests.ts";
import { answerTo } from "./load.ts";
import { range } from "./range.ts";
import type { Reading } from "./reading.ts";
import { createContainer, getBlob, headBlob, putBlob, putBlock } from "./requests.ts";
import { type Bench, cpuTimesBlob, flat, type Row, timesBlob } from "./row.ts";
import type { Target } from "./server.ts";

const VARIANTS = 2_000;
const SMALL_BYTES = 4 * 1024;
const LARGE_MIB = 100;
const RANGE_BYTES = 4 * 1024 * 1024;
/** The concurrency with which the official SDKs upload one blob or file. */
const SDK_CLIENTS = 5;
const LISTED = 5_000;
const MANY_FILES = 100_000;

/** Each row is measured with its counterpart in the Blob service, on the same server. */
export const FILE_ROWS: readonly Row[] = [
  {
    name: "Create File and Put Range 4 KiB",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(1.5)],
    measure: onBoth(
      (blobs, { load }) =>
        load.many(
          blobs,
          variants((index) => putBlob(blobs, small(index))),
        ),
      (files, { load }) =>
        load.grouped(
          files,
          variants((index) => [createFile(files, index), putRange(files, index)]),
        ),
    ),
  },
  {
    name: "Create File with 4 KiB",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(1.5)],
    measure: onBoth(
      (blobs, { load }) =>
        load.many(
          blobs,
          variants((index) => putBlob(blobs, small(index))),
        ),
      (files, { load }) =>
        load.many(
          files,
          variants((index) => createFileWithBody(files, index)),
        ),
    ),
  },
  {
    name: "Get File 4 KiB",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(1.5)],
    measure: onFilled(
      (blobs, index) => getBlob(blobs, small(index)),
      (files, index) => getFile(files, index),
    ),
  },
  {
    name: "Head File",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(1.5)],
    measure: onFilled(
      (blobs, index) => headBlob(blobs, small(index)),
      (files, index) => headFile(files, index),
    ),
  },
  {
    name: "Put Range, 100 MiB by 4 MiB",
    unit: "MiB/s",
    servers: ["lazuli"],
    bars: [timesBlob(0.8)],
    measure: rangesBesideBlocks(SDK_CLIENTS),
  },
  {
    name: "Put Range, 100 MiB by 4 MiB, one at a time",
    unit: "MiB/s",
    servers: ["lazuli"],
    bars: [timesBlob(0.8)],
    measure: rangesBesideBlocks(1),
  },
  {
    name: "List 5,000 of 100,000 files",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.3)],
    measure: (_, bench) => listAmongMany(bench),
  },
];

/** Measures both services, alternating. */
function onBoth(
  runBlobs: (target: Target, bench: Bench) => Promise<Reading>,
  runFiles: (target: Target, bench: Bench) => Promise<Reading>,
): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (target) => {
      await answerTo(target, createContainer(target));
      const files = { ...target, port: target.filePort };
      await answerTo(files, createShare(files));
      return besideBlob(
        target,
        bench,
        (both) => runBlobs(target, both),
        (both) => runFiles(files, both),
      );
    });
}

/** Writes the same bytes as blocks of a blob and as ranges of a file, with this many clients. */
function rangesBesideBlocks(clients: number): Row["measure"] {
  return onBoth(
    async (blobs, { load }) => {
      const blocks = pieces((at) => putBlock(blobs, { index: 0, bytes: RANGE_BYTES }, at));
      return inMib(await load.few(blobs, blocks, clients));
    },
    async (files, { load }) => {
      await answerTo(files, createFile(files, 0, LARGE_MIB * 1024 * 1024));
      const body = randomBytes(RANGE_BYTES);
      const ranges = pieces((at) => putRange(files, 0, body, at * RANGE_BYTES));
      return inMib(await load.few(files, ranges, clients));
    },
  );
}

/** Sends requests to existing blobs, and to existing files of the same size. */
function onFilled(
  askBlob: (target: Target, index: number) => Buffer,
  askFile: (target: Target, index: number) => Buffer,
): Row["measure"] {
  return onBoth(
    async (blobs, { load }) => {
      const puts = variants((index) => putBlob(blobs, small(index)));
      await load.each(blobs, puts);
      const requests = variants((index) => askBlob(blobs, index));
      return load.many(blobs, requests);
    },
    async (files, { load }) => {
      await fill(files, load, VARIANTS);
      const requests = variants((index) => askFile(files, index));
      return load.many(files, requests);
    },
  );
}

/** Measures the processor time for a page, with as many files as it holds and with many more. */
async function listAmongMany(bench: Bench): Promise<Reading> {
  const filesOf = (target: Target) => ({ ...target, port: target.filePort });
  const { few, many } = await fewAndMany(bench, {
    few: LISTED,
    many: MANY_FILES,
    async fill(target, count) {
      const files = filesOf(target);
      await answerTo(files, createShare(files));
      await bench.load.fill(files, create(files, count));
    },
    measure: (target, _, alternating) => listFirst(filesOf(target), alternating),
  });
  return { value: many, inTheSmall: few };
}

async function listFirst(files: Target, { load }: Bench): Promise<number> {
  const request = listFiles(files, LISTED);
  const found = (await answerTo(files, request)).match(/<File>/g)?.length ?? 0;
  if (found !== LISTED) throw new Error(`The list has ${found} files.`);
  return (await load.single(files, [request])).cpuMicros ?? 0;
}

function* create(target: Target, count: number): Generator<Buffer> {
  for (let index = 0; index < count; index++) yield createFile(target, index, 0);
}

async function fill(target: Target, load: Bench["load"], files: number): Promise<void> {
  await load.each(
    target,
    range(files, (index) => createFile(target, index)),
  );
  await load.each(
    target,
    range(files, (index) => putRange(target, index)),
  );
}

function small(index: number) {
  return { index, bytes: SMALL_BYTES };
}

function variants<T>(make: (index: number) => T): T[] {
  return range(VARIANTS, make);
}

/** Splits 100 MiB into ranges. */
function pieces<T>(make: (at: number) => T): T[] {
  return range((LARGE_MIB * 1024 * 1024) / RANGE_BYTES, make);
}

function inMib(reading: Reading): Reading {
  return { ...reading, value: (reading.value * RANGE_BYTES) / (1024 * 1024) };
}
