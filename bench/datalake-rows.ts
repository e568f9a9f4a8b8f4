import { KIB } from "../src/base/limits.ts";
import { besideBlob } from "./beside-blob.ts";
import {
  appendData,
  createFilesystem,
  createPath,
  flushData,
  listPaths,
  putFile,
  readPath,
  renamePath,
} from "./datalake-requests.ts";
import { fewAndMany } from "./few-and-many.ts";
import { answerTo } from "./load.ts";
import { range } from "./range.ts";
import type { Reading } from "./reading.ts";
import { createContainer, getBlob, listBlobs, putBlob } from "./requests.ts";
import { type Bench, cpuTimesBlob, flat, type Row } from "./row.ts";
import type { Target } from "./server.ts";

const VARIANTS = 2_000;
const LISTED = 5_000;
const LISTED_BYTES = 100;
const MANY_FILES = 100_000;
const LEVELS = 10;
/** Each needs the one before it. */
const RENAMES = 9_000;

/** Containers with directories. */
export const DATALAKE_ROWS: readonly Row[] = [
  {
    name: "Create, append and flush 4 KiB",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(2)],
    measure: (server, bench) =>
      bench.servers.withFresh(server, (target) => writeBesideBlob(target, bench)),
  },
  {
    name: "Read 4 KiB of a file",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(1.2)],
    measure: (server, bench) =>
      bench.servers.withFresh(server, (target) => readBesideBlob(target, bench)),
  },
  {
    name: "Rename a directory of 100,000 files",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.3)],
    measure: (_, bench) => renameAmongMany(bench),
  },
  {
    name: "Read 4 KiB, 10 levels deep",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.5)],
    measure: onDepths(readPath, true),
  },
  {
    name: "Put Blob 4 KiB, 10 levels deep",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.5)],
    measure: onDepths((target, path) => putFile(target, path), false),
  },
  {
    name: "List 5,000 paths",
    unit: "req/s",
    servers: ["lazuli"],
    bars: [cpuTimesBlob(2)],
    measure: (server, bench) =>
      bench.servers.withFresh(server, (target) => listBesideBlobs(target, bench)),
  },
  {
    name: "List 5,000 of 100,000 paths",
    unit: "µs",
    servers: ["lazuli"],
    bars: [flat(1.3)],
    measure: (_, bench) => listAmongMany(bench),
  },
];

function lakeOf(target: Target): Target {
  return { ...target, port: target.dfsPort };
}

/** Writes files by three requests each, and blobs by one. */
async function writeBesideBlob(target: Target, bench: Bench): Promise<Reading> {
  const lake = lakeOf(target);
  await answerTo(lake, createFilesystem(lake));
  await answerTo(target, createContainer(target));
  const files = range(VARIANTS, (index) => [
    createPath(lake, `file-${index}`, "file"),
    appendData(lake, `file-${index}`),
    flushData(lake, `file-${index}`),
  ]);
  const blobs = range(VARIANTS, (index) => [putBlob(target, { index, bytes: 4 * KIB })]);
  return besideBlob(
    target,
    bench,
    ({ load }) => load.grouped(target, blobs),
    async ({ load }) => {
      const { value, cpuMicros = 0 } = await load.grouped(lake, files);
      return { value: value / 3, cpuMicros: cpuMicros * 3 };
    },
  );
}

async function readBesideBlob(target: Target, bench: Bench): Promise<Reading> {
  const lake = lakeOf(target);
  await answerTo(lake, createFilesystem(lake));
  await answerTo(target, createContainer(target));
  const names = range(VARIANTS, (index) => `file-${index}`);
  const steps = [
    (name: string) => createPath(lake, name, "file"),
    (name: string) => appendData(lake, name),
    (name: string) => flushData(lake, name),
  ];
  for (const step of steps) await bench.load.each(lake, names.map(step));
  const blobs = range(VARIANTS, (index) => ({ index, bytes: 4 * KIB }));
  await bench.load.each(
    target,
    blobs.map((blob) => putBlob(target, blob)),
  );
  return besideBlob(
    target,
    bench,
    ({ load }) =>
      load.many(
        target,
        blobs.map((blob) => getBlob(target, blob)),
      ),
    ({ load }) =>
      load.many(
        lake,
        names.map((name) => readPath(lake, name)),
      ),
  );
}

/** Measures the processor time of a rename, of an empty directory and of a full one. */
async function renameAmongMany(bench: Bench): Promise<Reading> {
  const { few, many } = await fewAndMany(bench, {
    few: 0,
    many: MANY_FILES,
    async fill(target, count) {
      const lake = lakeOf(target);
      await answerTo(lake, createFilesystem(lake));
      await answerTo(lake, createPath(lake, "d", "directory"));
      await bench.load.fill(lake, files(lake, "d", count));
    },
    async measure(target, _, { load }) {
      const lake = lakeOf(target);
      const there = renamePath(lake, "d", "e");
      const back = renamePath(lake, "e", "d");
      const renames = range(RENAMES, (index) => (index % 2 === 0 ? there : back));
      return (await load.once(lake, renames, 1)).cpuMicros ?? 0;
    },
  });
  return { value: many, inTheSmall: few };
}

/** Measures the processor time at one level and at many, alternating on one server. */
function onDepths(
  ask: (target: Target, path: string) => Buffer,
  isFilled: boolean,
): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (target) => {
      const lake = lakeOf(target);
      await answerTo(lake, createFilesystem(lake));
      const deep = range(LEVELS - 1, (level) => `level-${level}/`).join("");
      const requests = (prefix: string) =>
        range(VARIANTS, (index) => ask(lake, `${prefix}file-${index}`));
      if (isFilled) {
        for (const prefix of ["", deep]) {
          await bench.load.each(
            lake,
            range(VARIANTS, (index) => putFile(lake, `${prefix}file-${index}`)),
          );
        }
      }
      const { cpuMicros = 0, blob } = await besideBlob(
        lake,
        bench,
        ({ load }) => load.many(lake, requests("")),
        ({ load }) => load.many(lake, requests(deep)),
      );
      return { value: cpuMicros, inTheSmall: blob?.cpuMicros ?? 0 };
    });
}

/** Lists the same number of paths in a directory, and of blobs in a flat container. */
async function listBesideBlobs(target: Target, bench: Bench): Promise<Reading> {
  const lake = lakeOf(target);
  await answerTo(lake, createFilesystem(lake));
  await answerTo(target, createContainer(target));
  await bench.load.fill(lake, files(lake, "d", LISTED));
  await bench.load.fill(
    target,
    range(LISTED, (index) => putBlob(target, { index, bytes: LISTED_BYTES })),
  );
  return besideBlob(
    target,
    bench,
    ({ load }) => load.single(target, [listBlobs(target, LISTED)]),
    ({ load }) => load.single(lake, [listPaths(lake, "d", LISTED)]),
  );
}

/** Measures the processor time for a page, with as many files as it holds and with many more. */
async function listAmongMany(bench: Bench): Promise<Reading> {
  const { few, many } = await fewAndMany(bench, {
    few: LISTED,
    many: MANY_FILES,
    async fill(target, count) {
      const lake = lakeOf(target);
      await answerTo(lake, createFilesystem(lake));
      await bench.load.fill(lake, files(lake, "d", count));
    },
    async measure(target, _, { load }) {
      const lake = lakeOf(target);
      const request = listPaths(lake, "d", LISTED);
      const found = (await answerTo(lake, request)).match(/"name"/g)?.length ?? 0;
      if (found !== LISTED) throw new Error(`The list has ${found} paths.`);
      return (await load.single(lake, [request])).cpuMicros ?? 0;
    },
  });
  return { value: many, inTheSmall: few };
}

function* files(target: Target, directory: string, count: number): Generator<Buffer> {
  for (let index = 0; index < count; index++) {
    const path = `${directory}/file-${String(index).padStart(6, "0")}`;
    yield putFile(target, path, LISTED_BYTES);
  }
}
