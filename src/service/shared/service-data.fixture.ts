import assert from "node:assert/strict";
import { after } from "node:test";
import type { TestData } from "../../../test/sdk/test-data.ts";
import { AnyOf } from "../../base/any-of.fixture.ts";
import type { ManualClock } from "../../base/clock.ts";
import { StoredContents } from "../../content/stored-contents.ts";
import { MemoryExtents } from "../../engine/memory/extents.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { Machine } from "../../machine/machine.ts";
import type { Extents } from "../../store/extents.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { Store } from "../../store/store.ts";

type Data = TestData["frontEnds"][number];

/** What one front end has of the data of a test. */
export interface ServiceData extends Pick<Data, "store" | "contents" | "member"> {
  readonly extents: Pick<Extents, "list">;
}

export interface DataOptions {
  /** Memory, whatever engine is asked for: for tests that count or change what a store is asked. */
  readonly inMemory?: (store: MemoryStore) => Store;
  /** One front end, however many are asked for: for tests about what one process remembers. */
  readonly alone?: boolean;
}

/** For tests that count what bodies do. Other front ends and engines run them as often as they like. */
export const IN_MEMORY: DataOptions = { inMemory: (store) => new ForgettingStore(store) };

/** The store beneath that of `IN_MEMORY`: it runs each body once. */
export function runningOnce(store: Store): Store {
  assert.ok(store instanceof ForgettingStore);
  return store.once;
}

/** Data stays open for as many tests, or rounds of a test, as this. */
const OPEN_MAX = 4;
const open: TestData[] = [];

/**
 * Opens empty data for one test: in memory, in a store that runs bodies again in all ways, or on the
 * engine that `LAZULI_TEST_ENGINE` names. It may have several front ends: each use gets another.
 */
export async function openServiceData(
  clock: ManualClock,
  { inMemory, alone = false }: DataOptions = {},
): Promise<AnyOf<ServiceData>> {
  if (inMemory !== undefined || process.env.LAZULI_TEST_ENGINE === undefined) {
    const storeOn = inMemory ?? ((store: MemoryStore) => new ForgettingStore(store));
    return new AnyOf([memory(storeOn(new MemoryStore(clock)))]);
  }
  // Loaded only when it is asked for: it takes longer than most tests of services.
  const { openTestData } = await import("../../../test/sdk/test-data.ts");
  const onEnded = (error: unknown) => {
    throw error;
  };
  const data = await openTestData(undefined, clock, onEnded, alone ? 1 : undefined);
  if (open.length === 0) after(() => closeAllBut(0));
  open.push(data);
  await closeAllBut(OPEN_MAX);
  return new AnyOf(
    data.frontEnds.map((frontEnd) => ({ ...frontEnd, extents: extentsOf(frontEnd) })),
  );
}

function memory(store: Store): ServiceData {
  const extents = new MemoryExtents();
  const contents = new StoredContents(store, extents, new Machine());
  return { store, contents, extents, member: null };
}

function extentsOf({ member, engine }: Data): Pick<Extents, "list"> {
  const extents = member?.extents ?? engine?.extents;
  if (extents == null) throw new Error("its extents are unknown");
  return extents;
}

async function closeAllBut(count: number): Promise<void> {
  while (open.length > count) await open.shift()?.close();
}

/** What extents take, of all front ends. */
export function bytesInExtents({ all }: AnyOf<ServiceData>): number {
  const infos = all.flatMap(({ extents }) => extents.list());
  return infos.reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
}
