// Full disks: deletes taken, seconds until space is back, starts that serve. Flags: --mib 160,400,900, --bodies 3000,8000,65536,1048576.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { anyPorts } from "../../src/main/any-ports.fixture.ts";
import { REST_SERVICES } from "../../src/main/flags.ts";
import { LazuliProcess } from "../command/process.ts";
import { SmallDisk } from "../command/small-disk.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { type Figure, report } from "./figure.ts";

/** Far more bodies than fit into the largest volume. */
const BODIES_MAX = 200_000;
const CLIENTS = 8;
/** How long it may take until space is free again. */
const BACK_SECONDS_MAX = 10;
/** Part of the volume that must be free once everything is deleted. */
const BACK_PART = 0.5;
/**
 * Shorter bodies are stored in LMDB's file, which does not shrink: only similar bodies reuse their
 * space.
 */
const EXTENT_BODY_BYTES = 16 * 1024;
const PORTS = anyPorts(REST_SERVICES);

const { values } = parseArgs({
  options: {
    mib: { type: "string", default: "160,400,900" },
    bodies: { type: "string", default: "3000,8000,65536,1048576" },
  },
});

function numbers(text: string): number[] {
  const found = text.split(",").map(Number);
  if (!found.every((one) => one > 0)) throw new Error("flags take numbers above 0");
  return found;
}

/**
 * Fills a volume, kills and starts in between, deletes everything through the API, and writes
 * again.
 */
async function measure(mib: number, bytes: number): Promise<Figure[]> {
  const disk = SmallDisk.mount("ext4", mib);
  if (typeof disk === "string") throw new Error(disk);
  const what = `${mib} MiB, bodies of ${bytes} bytes`;
  const starts = new Starts(join(disk.folder, "data"));
  try {
    const first = await starts.next();
    await first.create();
    const stored = await fill(first, bytes);
    const full = await starts.next();
    const read = await each(stored, (name) => full.getBlobClient(name).downloadToBuffer());
    const half = stored.slice(0, stored.length / 2);
    const early = await each(half, (name) => full.getBlobClient(name).delete());
    const later = await starts.next();
    const late = await each(stored.slice(half.length), (name) =>
      later.getBlobClient(name).delete(),
    );
    const taken = early + late;
    const seconds = await secondsUntilBack(disk, mib, later, bytes);
    const again = await fill(later, bytes);
    await each(again, (name) => later.getBlobClient(name).delete());
    const ended = await starts.stop();
    return [
      figure(
        `${what}: reads on a full disk`,
        `${read} of ${stored.length}`,
        "all",
        read === stored.length,
      ),
      figure(
        `${what}: deletes taken`,
        `${taken} of ${stored.length}`,
        "all",
        taken === stored.length,
      ),
      figure(
        `${what}: space is back`,
        seconds === null ? "no" : `${seconds.toFixed(1)} s`,
        `${BACK_SECONDS_MAX} s`,
        seconds !== null,
      ),
      figure(
        `${what}: written again`,
        `${again.length} of ${stored.length}`,
        "90 %",
        again.length >= 0.9 * stored.length,
      ),
      figure(`${what}: starts that served`, `${starts.served} of 3`, "all", starts.served === 3),
      figure(`${what}: exit code`, `${ended.code}`, "0, nothing but notes", ended.code === 0),
    ];
  } finally {
    await starts.kill();
    disk.unmount();
  }
}

function figure(promise: string, found: string, bar: string, met: boolean): Figure {
  console.log(`${promise}: ${found}`);
  return { promise, found, bar, met };
}

/** Runs one process after another on the same folder; kills each but the last. */
class Starts {
  readonly #location: string;
  #process: LazuliProcess | null = null;
  served = 0;

  constructor(location: string) {
    this.#location = location;
  }

  async next(): Promise<ContainerClient> {
    await this.kill();
    this.#process = new LazuliProcess(["--location", this.#location, ...PORTS]);
    const url = await this.#process.urlOf("Blob");
    this.served++;
    const retryOptions = { maxTries: 1 };
    return new BlobServiceClient(url, CREDENTIAL, { retryOptions }).getContainerClient("full");
  }

  async stop() {
    const running = this.#process as LazuliProcess;
    running.signal("SIGTERM");
    const ended = await running.ended();
    console.log(ended.err.trimEnd());
    return ended;
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }
}

/** Uploads until the disk is full; returns the names of the uploaded blobs. */
async function fill(container: ContainerClient, bytes: number): Promise<string[]> {
  const stored: string[] = [];
  let count = 0;
  let isFull = false;
  const client = async () => {
    while (!isFull && count < BODIES_MAX) {
      const name = `${bytes}-${count++}`;
      const status = await upload(container, name, bytes);
      if (status === 201) stored.push(name);
      else isFull = true;
      if (status !== 201 && status !== 507) throw new Error(`an upload got ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return stored;
}

async function upload(container: ContainerClient, name: string, bytes: number): Promise<number> {
  try {
    await container.getBlockBlobClient(name).upload(randomBytes(bytes), bytes);
    return 201;
  } catch (error) {
    return (error as { statusCode?: number }).statusCode ?? 0;
  }
}

/** Counts successes. */
async function each(names: readonly string[], run: (name: string) => Promise<unknown>) {
  const left = [...names];
  let done = 0;
  const client = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      await run(name).then(
        () => done++,
        (error) => console.log(`${name}: ${error.statusCode ?? error}`),
      );
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return done;
}

/** Seconds until space is free and a write succeeds; null if it takes too long. */
async function secondsUntilBack(
  disk: SmallDisk,
  mib: number,
  container: ContainerClient,
  bytes: number,
): Promise<number | null> {
  const beganMs = performance.now();
  const seconds = () => (performance.now() - beganMs) / 1_000;
  while (seconds() < BACK_SECONDS_MAX) {
    const isFree = bytes <= EXTENT_BODY_BYTES || disk.freeBytes >= BACK_PART * mib * 1024 * 1024;
    if (isFree && (await upload(container, "again", bytes)) === 201) return seconds();
    // tidy-allow sleep: the server frees space in its own time
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const isTaken = (await upload(container, "again", bytes)) === 201;
  console.log(`free: ${disk.freeBytes >> 20} MiB; a write is ${isTaken ? "taken" : "refused"}`);
  return null;
}

const figures: Figure[] = [];
for (const mib of numbers(values.mib)) {
  for (const bytes of numbers(values.bodies)) figures.push(...(await measure(mib, bytes)));
}
report(figures);
