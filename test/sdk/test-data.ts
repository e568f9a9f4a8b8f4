import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import { MemoryStore } from "../../src/engine/memory/store.ts";
import { readAddress } from "../../src/engine/postgres/address.ts";
import { PostgresServer } from "../../src/engine/postgres/postgres-server.fixture.ts";
import { openPostgresStore } from "../../src/engine/postgres/store.ts";
import { type Data, memoryData, openData } from "../../src/main/open-data.ts";
import { ForgettingStore } from "../../src/store/forgetting-store.fixture.ts";
import type { StoreError } from "../../src/store/store.ts";
import { openTestBytes } from "./test-bytes.ts";

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

/** Front ends on one PostgreSQL database, each of which gets some of the requests. */
const FRONT_ENDS = Number(process.env.LAZULI_TEST_FRONT_ENDS ?? 1);

/**
 * Opens empty data on the engine that is asked for. Instead of memory it is another one if
 * `LAZULI_TEST_ENGINE` names it.
 */
export async function openTestData(
  engine: TestEngine | undefined,
  clock: Clock,
  failStop: (error: StoreError) => void,
): Promise<TestData> {
  const isAny = engine === undefined || engine === "memory";
  switch (isAny ? process.env.LAZULI_TEST_ENGINE : engine) {
    case "embedded":
      return openFolderData(clock, failStop);
    case "postgres":
      return openPostgresData(clock);
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

async function openPostgresData(clock: Clock): Promise<TestData> {
  const server = await PostgresServer.start();
  const address = readAddress(server.url());
  const bytes = await openTestBytes();
  const frontEnds: Data[] = [];
  for (let count = 0; count < FRONT_ENDS; count++) {
    const store = await openPostgresStore(address, { clock });
    frontEnds.push(memoryData(store, null, await bytes.extentsOf(store.frontEnd)));
  }
  return {
    frontEnds,
    async close() {
      for (const data of frontEnds) await data.close();
      await bytes.close();
      const drop = `drop schema ${address.schema} cascade`;
      await server.withClient(server.url(), (client) => client.query(drop));
      await server.remove();
    },
  };
}
