import assert from "node:assert/strict";
import { type Bytes, wholeBody } from "../base/bytes.ts";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { TIB } from "../base/limits.ts";
import { prefetch } from "../store/accelerated.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import type { Content, Taken } from "../store/content.ts";
import type { Transaction, View } from "../store/store.ts";
import { type ContentsFixture, NO_DIGESTS } from "./contents.fixture.ts";

export const PAGE = 512;

export function page(seed: number): Bytes {
  return someBytes(PAGE, seed);
}

/** Names all records of all maps, for bodies with more operations than those of a service. */
export function prefetchMaps(view: View): void {
  const spaces = [SPACE.rangeEntry, SPACE.rangeLayer, SPACE.crowdedRegion].map((space) =>
    key(space),
  );
  const options = { limit: Number.POSITIVE_INFINITY };
  prefetch(view, () => spaces.map((all) => ({ from: all, until: keyAfter(all), options })));
}

/** Maps on an engine, with shorthands for tests. */
export class MapFixture {
  readonly contents: ContentsFixture;

  constructor(contents: ContentsFixture) {
    this.contents = contents;
  }

  create(length: number): Promise<Content> {
    const { store, contents } = this.contents;
    return store.transact((tx) => contents.maps.create(tx, length));
  }

  write(map: Content, at: number, bytes: Bytes): Promise<Content> {
    const { maps } = this.contents.contents;
    return this.#put(bytes, (tx, taken) => maps.write(tx, map, at, taken));
  }

  /** Creates a map that replaces another one, if `map` is not null. */
  replace(map: Content | null, length: number, body: Bytes | null): Promise<Content> {
    const { store, contents } = this.contents;
    if (body === null) return store.transact((tx) => contents.maps.create(tx, length, null, map));
    return this.#put(body, (tx, taken) => contents.maps.create(tx, length, taken, map));
  }

  resize(map: Content, length: number): Promise<Content> {
    const { store, contents } = this.contents;
    return store.transact((tx) => contents.maps.resize(tx, map, length));
  }

  append(map: Content, bytes: Bytes): Promise<Content> {
    const { maps } = this.contents.contents;
    return this.#put(bytes, (tx, taken) => maps.append(tx, map, taken));
  }

  async #put(bytes: Bytes, put: (tx: Transaction, taken: Taken) => Content): Promise<Content> {
    const { store, contents } = this.contents;
    const taken = await contents.take(wholeBody(bytes), NO_DIGESTS);
    try {
      return await store.transact((tx) => put(tx, taken));
    } finally {
      taken.release();
    }
  }

  async place(
    map: Content,
    at: number,
    content: Content,
    from: number,
    length: number,
  ): Promise<Content> {
    const { store, contents } = this.contents;
    const placed = await store.transact((tx) =>
      contents.maps.place(tx, map, at, content, from, length),
    );
    return placed ?? assert.fail("it was not placed");
  }

  /** Writes `count` pages, `step` pages apart, with many pages per transaction. */
  async writePages(map: Content, count: number, step: number, first = 0): Promise<Content> {
    const { store, contents } = this.contents;
    let written = map;
    for (let from = 0; from < count; from += 250) {
      const until = Math.min(from + 250, count);
      const pages = await Promise.all(
        Array.from({ length: until - from }, (_, at) =>
          contents.take(wholeBody(page(from + at)), NO_DIGESTS),
        ),
      );
      written = await store.transact((tx) => {
        prefetchMaps(tx);
        return pages.reduce((map, taken, at) => {
          return contents.maps.write(tx, map, (first + (from + at) * step) * PAGE, taken);
        }, written);
      });
    }
    return written;
  }

  /** Writes consecutive pages, with a snapshot before each. */
  async writeBetweenSnapshots(map: Content, count: number): Promise<Content> {
    const { store, contents } = this.contents;
    const taken = await contents.take(wholeBody(page(0)), NO_DIGESTS);
    return store.transact((tx) => {
      prefetchMaps(tx);
      let written = map;
      for (let at = 0; at < count; at++) {
        contents.share(tx, written);
        written = contents.maps.write(tx, written, at * PAGE, taken);
      }
      return written;
    });
  }

  async expect(map: Content, from: number, expected: readonly Bytes[]): Promise<void> {
    const bytes = Buffer.concat(expected);
    assert.ok((await this.contents.read(map, from, bytes.length)).equals(bytes));
  }

  async ranges(map: Content): Promise<[number, number][]> {
    const { store, contents } = this.contents;
    const { found } = await store.read((view) => contents.maps.ranges(view, map, 0, 8 * TIB, 100));
    return found.map(({ start, end }) => [start, end]);
  }

  recordsIn(space: (typeof SPACE)[keyof typeof SPACE]): Promise<number> {
    const all = key(space);
    return this.contents.store.read(
      (view) => view.range(all, keyAfter(all), { limit: 100_000 }).length,
    );
  }
}
