import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import type { Schedule } from "../../src/base/schedule.ts";
import { MemoryStore } from "../../src/engine/memory/store.ts";
import { type Data, memoryData, openData } from "../../src/main/open-data.ts";
import { type Member, openSharedData } from "../../src/main/shared-data.ts";
import { OutOfReach } from "../../src/main/start-error.ts";
import { ForgettingStore } from "../../src/store/forgetting-store.fixture.ts";
import type { StoreError } from "../../src/store/store.ts";
import { FRONT_ENDS, openTestPlace } from "./test-place.ts";

/**
 * Memory by default, which fetches records only after a body has asked for them. Plain memory has
 * all of them at hand, as the embedded engine has: there, a short list is one store read.
 */
export type TestEngine = "memory" | "plain memory" | "embedded" | "postgres";

/** The data of a test server. Each of its front ends has an object of its own for it. */
export interface TestData {
  readonly frontEnds: readonly Data[];
  close(): Promise<void>;
}

/**
 * Opens empty data on the engine that is asked for. Instead of memory it is another one if
 * `LAZULI_TEST_ENGINE` names it.
 */
export async function openTestData(
  engine: TestEngine | undefined,
  clock: Clock,
  failStop: (error: StoreError) => void,
  frontEnds = FRONT_ENDS,
): Promise<TestData> {
  const isAny = engine === undefined || engine === "memory";
  switch (isAny ? process.env.LAZULI_TEST_ENGINE : engine) {
    case "embedded":
      return openFolderData(clock, failStop);
    case "postgres":
      return openPostgresData(clock, failStop, frontEnds);
    case "plain memory":
      return alone(memoryData(new MemoryStore(clock), null));
    default:
      return alone(memoryData(new ForgettingStore(new MemoryStore(clock)), null));
  }
}

function alone(data: Data, close = data.close): TestData {
  return { frontEnds: [data], close };
}

async function openFolderData(
  clock: Clock,
  failStop: (error: StoreError) => void,
): Promise<TestData> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-test-"));
  const data = await openData({ location: folder, memoryBytesMax: null }, clock, failStop);
  return alone(data, async () => {
    await data.close();
    await rm(folder, { recursive: true });
  });
}

/** Longer than any test moves the clock: no front end ends because its clock jumps. */
const LEASE_MS = 100 * 365 * 86_400_000;
/** No timer runs: heartbeats come when a test sweeps. */
const NEVER: Schedule = () => ({ cancel: () => {} });

async function openPostgresData(
  clock: Clock,
  failStop: (error: StoreError) => void,
  count: number,
): Promise<TestData> {
  const place = await openTestPlace();
  const around = { clock, failStop, schedule: NEVER, leaseMs: LEASE_MS };
  const { bucket, place: bytes } = place.bytes;
  const shared = { records: place.records, bytes };
  const opening = Array.from({ length: count }, () => openPatiently(shared, bucket, around));
  const frontEnds = await Promise.all(opening);
  sweepTogether(frontEnds);
  return {
    frontEnds,
    async close() {
      await Promise.all(frontEnds.map((data) => data.close()));
      await place.remove();
    },
  };
}

/** Far more than a database needs that only is busy. */
const OPENINGS_MAX = 60;

/** Opens shared data, also if the database is too busy to take a connection at once. */
async function openPatiently(...asked: Parameters<typeof openSharedData>) {
  for (let tries = 1; ; tries++) {
    try {
      return await openSharedData(...asked);
    } catch (error) {
      if (!(error instanceof OutOfReach) || tries === OPENINGS_MAX) throw error;
    }
  }
}

/** After the first, all begin new readings; after the second, all tell it; after the third, all know it. */
const BEATS = 3;
/** What one front end frees, another one hears of, and removes the bytes. */
const PASSES = 3;

/** Makes a sweep of one of them a sweep of all, after the heartbeats that tell what is read. */
function sweepTogether(frontEnds: readonly (Data & { readonly member: Member })[]): void {
  const sweeps = frontEnds.map(({ contents }) => contents.sweep.bind(contents));
  const sweep = async () => {
    let isMore = false;
    for (let pass = 0; pass < PASSES; pass++) {
      for (let beat = 0; beat < BEATS; beat++) {
        await Promise.all(frontEnds.map(({ member }) => member.frontEnd.beat()));
      }
      isMore = false;
      for (const one of sweeps) if (await one()) isMore = true;
    }
    return isMore;
  };
  for (const { contents } of frontEnds) contents.sweep = sweep;
}
