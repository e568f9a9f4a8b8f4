import { BODY_BYTES_MAX } from "../base/body-budget.ts";
import type { Bytes } from "../base/bytes.ts";
import { fairQueue } from "../base/fair-queue.ts";
import { keyBehind, SPACE } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";
import type { EndOfUse, Extents, Pin } from "../store/extents.ts";
import { type Store, StoreError, type Transaction, type View } from "../store/store.ts";
import {
  ensureOrigin,
  laterEnd,
  NOTHING_COPIED,
  noteCopied,
  type Origin,
  originsKey,
} from "./extent-origins.ts";

/** Records that one body reads, about 1 ms of work. */
const RECORDS_PER_STEP = 256;
/** Passes after which the last one may have more keys than one step. */
const SHORT_PASSES = 4;
/** Behind the engine's own records, which belong to the folder and not to its data. */
const FIRST_KEY = Buffer.from([SPACE.engine + 1]);
const BEHIND_ALL = Buffer.from([0xff]);

/** A record; its value is null if it was deleted. */
export interface CopiedRecord {
  readonly key: Bytes;
  readonly value: Bytes | null;
}

/** A part of a copy, in this order: `begin`, records and `pass`es, `end`, and `held` from then on. */
export type CopiedPart =
  /** Where the bytes of the extents come from. */
  | { readonly is: "begin"; readonly origins: readonly Origin[] }
  | { readonly is: "records"; readonly records: readonly CopiedRecord[] }
  /** Records that follow replace those of the passes before. */
  | { readonly is: "pass" }
  /** The copy is complete. The stamp is later than all in it. */
  | { readonly is: "end"; readonly stamp: Stamp }
  /** Extents are still pinned. */
  | { readonly is: "held" };

/**
 * Copies one consistent state of all records while others write: that of the moment at which the
 * copy ends. The first pass reads everything, in short steps at different times, and notes which keys
 * change meanwhile. Each further pass reads the keys that have changed since, and takes less time
 * than the pass before. The last pass is one transaction: whoever applies all passes in order has the
 * state that this transaction saw. So no snapshot of the engine has to be held open.
 *
 * All extents that a copied record may name stay pinned until the generator is ended.
 */
export async function* copyState(
  store: Store,
  extents: Pick<Extents, "list" | "pin">,
  newOrigin: string,
): AsyncGenerator<CopiedPart, void> {
  const pins = new GrowingPin(extents);
  const changed = new ChangedKeys(store);
  try {
    yield { is: "begin", origins: await store.transact((tx) => ensureOrigin(tx, newOrigin)) };
    yield* copyAll(store, pins);
    for (let pass = 1; !changed.isFewFor(pass); pass++) {
      yield { is: "pass" };
      yield* copyKeys(store, pins, changed.take());
    }
    yield { is: "pass" };
    const { records, stamp } = await store.transact((tx) => copyLast(tx, pins, changed.keys));
    yield { is: "records", records };
    yield { is: "end", stamp };
    for (;;) yield { is: "held" };
  } finally {
    changed.close();
    pins.release();
  }
}

async function* copyAll(store: Store, pins: GrowingPin): AsyncGenerator<CopiedPart, void> {
  const options = { limit: RECORDS_PER_STEP, bytesMax: BODY_BYTES_MAX };
  for (let from: Bytes | null = FIRST_KEY; from !== null; ) {
    await fairQueue.next();
    const start: Bytes = from;
    const records = await store.read((view) => {
      pins.grow();
      return view.range(start, BEHIND_ALL, options);
    });
    const last = records.at(-1);
    from = last === undefined ? null : keyBehind(last.key);
    yield { is: "records", records };
  }
}

async function* copyKeys(
  store: Store,
  pins: GrowingPin,
  keys: readonly Bytes[],
): AsyncGenerator<CopiedPart, void> {
  for (let at = 0; at < keys.length; at += RECORDS_PER_STEP) {
    await fairQueue.next();
    const some = keys.slice(at, at + RECORDS_PER_STEP);
    const records = await store.read((view) => {
      pins.grow();
      return readAll(view, some);
    });
    yield { is: "records", records };
  }
}

function copyLast(
  tx: Transaction,
  pins: GrowingPin,
  keys: readonly Bytes[],
): { records: CopiedRecord[]; stamp: Stamp } {
  noteCopied(tx, pins.grow());
  return { records: readAll(tx, [...keys, originsKey()]), stamp: tx.stamp() };
}

function readAll(view: View, keys: readonly Bytes[]): CopiedRecord[] {
  return keys.map((key) => ({ key, value: view.get(key) ?? null }));
}

/** Collects the keys of all writes. */
class ChangedKeys {
  readonly close: () => void;
  #names = new Set<string>();
  #isLost = false;

  constructor(store: Store) {
    this.close = store.changes((keys) => {
      if (keys === null) this.#isLost = true;
      else for (const key of keys) this.#names.add(key.toString("latin1"));
    });
  }

  /** Whether few enough are left for one transaction; after many passes, more are. */
  isFewFor(pass: number): boolean {
    if (this.#isLost) throw new StoreError("broken", "the engine lost track of what has changed");
    return this.#names.size <= RECORDS_PER_STEP * 2 ** Math.max(pass - SHORT_PASSES, 0);
  }

  get keys(): Bytes[] {
    return [...this.#names].map((name) => Buffer.from(name, "latin1"));
  }

  take(): Bytes[] {
    const { keys } = this;
    this.#names = new Set();
    return keys;
  }
}

/** Pins all extents there are, those that are added later included. */
class GrowingPin {
  readonly #extents: Pick<Extents, "list" | "pin">;
  readonly #pinned = new Set<number>();
  readonly #pins: Pin[] = [];

  constructor(extents: Pick<Extents, "list" | "pin">) {
    this.#extents = extents;
  }

  /** Pins extents that are new. Returns the end of what is written. */
  grow(): EndOfUse {
    const all = this.#extents.list();
    const added = all.map(({ extent }) => extent).filter((extent) => !this.#pinned.has(extent));
    if (added.length > 0) this.#pins.push(this.#extents.pin(added));
    for (const extent of added) this.#pinned.add(extent);
    return all
      .map(({ extent, bytesOnDisk }) => ({ extent, offset: bytesOnDisk }))
      .reduce(laterEnd, NOTHING_COPIED);
  }

  release(): void {
    for (const pin of this.#pins.splice(0)) pin.release();
  }
}
