import assert from "node:assert/strict";
import { type Bytes, wholeBody } from "../base/bytes.ts";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { Machine } from "../machine/machine.ts";
import { altered } from "../store/altered-store.fixture.ts";
import { gather } from "../store/bodies.fixture.ts";
import type { Content, Reading, Taken } from "../store/content.ts";
import type { Part } from "../store/contents.ts";
import type { Entry } from "../store/entry.ts";
import type { Extents } from "../store/extents.ts";
import type { Store, Transaction } from "../store/store.ts";
import { type SharedRecords, StoredContents } from "./stored-contents.ts";

export const NO_DIGESTS = { md5: false, crc64: false };

const ROUNDS_MAX = 10_000;

/** Contents on an engine, with shorthands for tests. */
export class ContentsFixture {
  readonly store: Store;
  readonly extents: Extents;
  readonly contents: StoredContents;

  /** Moves of appended entries to extents that are under way. They may make garbage. */
  readonly #moving = new Set<Promise<void>>();

  constructor(store: Store, extents: Extents, shared?: SharedRecords) {
    this.store = store;
    this.extents = extents;
    const watched = this.#watched(store);
    this.contents = new StoredContents(watched, extents, new Machine(), extents, shared);
  }

  #watched(store: Store): Store {
    return altered(store, {
      beforeCheckpoint: (prepare) => store.beforeCheckpoint?.(() => this.#track(prepare())),
    });
  }

  #track(moving: Promise<void>): Promise<void> {
    const ended = moving.catch(() => {}).then(() => void this.#moving.delete(ended));
    this.#moving.add(ended);
    return moving;
  }

  put(bytes: Bytes): Promise<Content> {
    return this.#take(bytes, (tx, taken) => this.contents.keep(tx, taken));
  }

  replace(content: Content, bytes: Bytes): Promise<Content> {
    return this.#take(bytes, (tx, taken) => this.contents.replace(tx, content, taken));
  }

  async #take(bytes: Bytes, keep: (tx: Transaction, taken: Taken) => Content): Promise<Content> {
    const taken = await this.contents.take(wholeBody(bytes), NO_DIGESTS);
    try {
      return await this.store.transact((tx) => keep(tx, taken));
    } finally {
      taken.release();
    }
  }

  compose(parts: readonly Part[]): Promise<Content> {
    return this.store.transact((tx) => this.contents.compose(tx, parts));
  }

  /** Makes a slice; fails where copying would be cheaper. */
  async slice(content: Content, from: number, length: number): Promise<Content> {
    const slice = await this.store.transact((tx) => this.contents.slice(tx, content, from, length));
    return slice ?? assert.fail("there is no such slice");
  }

  share(content: Content): Promise<void> {
    return this.store.transact((tx) => this.contents.share(tx, content));
  }

  drop(content: Content): Promise<void> {
    return this.store.transact((tx) => this.contents.drop(tx, content));
  }

  open(content: Content, from = 0, length = content.length - from): Promise<Reading> {
    return this.store.read((view) => this.contents.open(view, content, from, length));
  }

  async read(content: Content, from = 0, length = content.length - from): Promise<Bytes> {
    const reading = await this.open(content, from, length);
    try {
      assert.equal(reading.length, length);
      const bytes = await gather(reading);
      if (reading.whole !== null) assert.deepEqual(reading.whole, bytes);
      return bytes;
    } finally {
      reading.close();
    }
  }

  /** Sweeps until there is nothing left to do. */
  async sweepAll(): Promise<void> {
    // Two idle rounds: copies that the last round made in vain are freed by another one.
    for (let idle = 0, rounds = 0; idle < 2 || this.#moving.size > 0; rounds++) {
      assert.ok(rounds < ROUNDS_MAX, "the sweeper does not come to an end");
      await Promise.all(this.#moving);
      idle = (await this.contents.sweep()) ? 0 : idle + 1;
    }
  }

  bytesOnDisk(): number {
    return this.extents.list().reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
  }

  /** All records that contents have in the store. */
  records(): Promise<Entry[]> {
    const until = keyAfter(key(SPACE.doomedRangeLayer));
    return this.store.read((view) => view.range(key(SPACE.content), until, { limit: 1_000_000 }));
  }

  async assertNothingLeft(): Promise<void> {
    assert.deepEqual(await this.records(), []);
    assert.equal(this.bytesOnDisk(), 0);
  }
}

export function partOf(content: Content, from = 0, length = content.length - from): Part {
  return { content, from, length, name: `${content.id}` };
}
