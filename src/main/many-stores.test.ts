import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { systemClock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../machine/aligned-bytes.ts";
import { gather, inParts, someBytes } from "../store/bodies.fixture.ts";
import { type Data, openData } from "./open-data.ts";

const BODY = someBytes(MIB, 1);
/** How much more than the first round another one may use, if the disk is slower then. */
const ONE_ROUND_BYTES_MAX = 3 * MIB;
const DIGESTS = { md5: true, crc64: true };

async function newPlace(t: TestContext): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "lazuli-many-"));
  t.after(() => rm(place, { recursive: true }));
  return place;
}

function open(location: string): Promise<Data> {
  const place = { location, memoryBytesMax: null };
  return openData(place, systemClock, (error) => assert.fail(error as Error));
}

/** Writes and reads a body that is long enough for both threads and for every pool. */
async function useAll({ store, contents }: Data): Promise<void> {
  const taken = await contents.take(inParts(BODY, 100_000), DIGESTS);
  const content = await store.transact((tx) => contents.keep(tx, taken));
  const reading = await store.read((view) => contents.open(view, content, 0, content.length));
  assert.ok((await gather(reading)).equals(BODY));
  reading.close();
}

/** The place of new aligned memory. Nothing else has this size, so it never was in use. */
function unusedPlace(): number {
  return alignedBytes(3 * PAGE_BYTES).byteOffset + 3 * PAGE_BYTES;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

test("opening and closing 50 stores leaves no thread, no timer and no memory behind", async (t) => {
  let threads = 0;
  let threadsEver = 0;
  const countThread = (worker: Worker) => {
    threads++;
    threadsEver++;
    worker.once("exit", () => threads--);
  };
  process.on("worker", countThread);
  t.after(() => process.off("worker", countThread));
  const before = timers();
  const folder = await newPlace(t);
  let place = 0;
  for (let round = 1; round <= 50; round++) {
    const data = await open(join(folder, String(round % 3)));
    await useAll(data);
    await data.close();
    // The first round allocates what the next ones use again.
    if (round === 1) place = unusedPlace();
  }
  const growth = unusedPlace() - place;
  assert.ok(growth <= ONE_ROUND_BYTES_MAX, `${growth} bytes`);
  assert.equal(threadsEver, 2 * 50);
  assert.equal(threads, 0);
  assert.equal(timers(), before);
});

test("a store that closes takes no thread and no memory away from another one", async (t) => {
  const folder = await newPlace(t);
  const [stays, closes] = await Promise.all(["a", "b"].map((name) => open(join(folder, name))));
  assert.ok(stays !== undefined && closes !== undefined);
  await useAll(stays);
  await useAll(closes);
  const { store, contents } = stays;
  const arrives = inParts(BODY, 100_000);
  const taken = await contents.take(
    {
      length: BODY.length,
      drain: (take) =>
        arrives.drain(async (part) => {
          await closes.close();
          await take(part);
        }),
    },
    DIGESTS,
  );
  const content = await store.transact((tx) => contents.keep(tx, taken));
  const reading = await store.read((view) => contents.open(view, content, 0, content.length));
  assert.ok((await gather(reading)).equals(BODY));
  reading.close();
  await useAll(stays);
  await stays.close();
});
