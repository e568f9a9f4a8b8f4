import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { type Clock, ManualClock } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import { appendInPlace } from "./accelerated.ts";
import type { Entry } from "./entry.ts";
import type { Store, Transaction, View } from "./store.ts";

/** A store for one test, with data of its own. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and removes its data. */
  dispose(): Promise<void>;
}

export type OpenStore = (clock: Clock) => Promise<OpenedStore>;

/** A store whose data survives a restart. */
export interface PersistentStore extends OpenedStore {
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
}

export const START_MS = Date.UTC(2024, 0, 1);

/** Opens a store for one test, with a manual clock, and disposes of it afterwards. */
export async function opened<S extends OpenedStore>(
  t: TestContext,
  open: (clock: Clock) => Promise<S>,
): Promise<S & { clock: ManualClock }> {
  const clock = new ManualClock(START_MS);
  const result = await open(clock);
  t.after(() => result.dispose());
  return { ...result, clock };
}

/** A key in a space that no engine uses for its own records. */
export function k(...bytes: number[]): Bytes {
  return Buffer.from([0x20, ...bytes]);
}

export function v(text: string): Bytes {
  return Buffer.from(text);
}

export const ALL = { from: k(), until: Buffer.from([0x21]) };

export function put(store: Store, key: Bytes, value: Bytes): Promise<void> {
  return store.transact((tx) => tx.set(key, value));
}

/** Appends bytes to a value, in place if the engine can; false if there is no value. */
export function addTo(tx: Transaction, key: Bytes, more: Bytes): boolean {
  const before = tx.get(key);
  if (before === undefined) {
    assert.equal(appendInPlace(tx, key, 0, more), false);
    return false;
  }
  if (!appendInPlace(tx, key, before.length, more)) tx.set(key, Buffer.concat([before, more]));
  return true;
}

/** A copy of a value. */
export function read(store: Store, key: Bytes): Promise<Bytes | undefined> {
  return store.read((view) => copy(view.get(key)));
}

function copy(value: Bytes | undefined): Bytes | undefined {
  return value === undefined ? undefined : Buffer.from(value);
}

/** Renders entries as text, for comparison. */
export function render(entries: readonly Entry[]): string[] {
  return entries.map(({ key, value }) => `${key.subarray(1).toString("hex")}=${value}`);
}

export function list(view: View, limit = 1_000, reverse = false): string[] {
  return render(view.range(ALL.from, ALL.until, { limit, reverse }));
}

export function assertRising(given: readonly Stamp[]): void {
  given.reduce((before, after) => {
    assert.ok(after > before, `${after} was given after ${before}`);
    return after;
  });
}
