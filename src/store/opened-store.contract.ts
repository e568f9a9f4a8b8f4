import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { type Clock, ManualClock } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import { appendInPlace } from "./acceleration.ts";
import type { Entry, Store, Transaction, View } from "./store.ts";

/** A store in a place of its own. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and removes its place. */
  dispose(): Promise<void>;
}

export type OpenStore = (clock: Clock) => Promise<OpenedStore>;

/** A store that outlives its process. */
export interface LastingStore extends OpenedStore {
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
}

export const START_MS = Date.UTC(2024, 0, 1);

/** Opens a store for the time of one test. */
export async function opened<S extends OpenedStore>(
  t: TestContext,
  open: (clock: Clock) => Promise<S>,
): Promise<S & { clock: ManualClock }> {
  const clock = new ManualClock(START_MS);
  const place = await open(clock);
  t.after(() => place.dispose());
  return { ...place, clock };
}

/** Keys of these tests stay clear of those that engines keep for themselves. */
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

/** Puts bytes behind a value, in the way that the engine prefers; false if there is none. */
export function addTo(tx: Transaction, key: Bytes, more: Bytes): boolean {
  const before = tx.get(key);
  if (before === undefined) {
    assert.equal(appendInPlace(tx, key, 0, more), false);
    return false;
  }
  if (!appendInPlace(tx, key, before.length, more)) tx.set(key, Buffer.concat([before, more]));
  return true;
}

/** A value that may be kept: what a body sees dies with it. */
export function read(store: Store, key: Bytes): Promise<Bytes | undefined> {
  return store.read((view) => copy(view.get(key)));
}

function copy(value: Bytes | undefined): Bytes | undefined {
  return value === undefined ? undefined : Buffer.from(value);
}

export function spell(entries: readonly Entry[]): string[] {
  return entries.map(({ key, value }) => `${key.subarray(1).toString("hex")}=${value}`);
}

export function list(view: View, limit = 1_000, reverse = false): string[] {
  return spell(view.range(ALL.from, ALL.until, { limit, reverse }));
}

export function assertRising(given: readonly Stamp[]): void {
  given.reduce((before, after) => {
    assert.ok(after > before, `${after} was given after ${before}`);
    return after;
  });
}
