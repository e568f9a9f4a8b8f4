import type { Bytes } from "../../base/bytes.ts";
import { type Property, readProperties } from "../../base/edm.ts";
import { SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import {
  type Column,
  type Columns,
  columnOf,
  mayMatch,
  narrow,
} from "../../rules/entity-columns.ts";
import {
  type Comparable,
  comparableOf,
  type EntityParts,
  type Filter,
  type Filtered,
  findInEntity,
  matches,
} from "../../rules/entity-filter.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import type { Derivation, Derived } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import { decodeEntity, placeOfKey } from "./records.ts";

/** Some of the entities of a page, in order. */
export interface PageRows {
  readonly page: EntityPage;
  readonly rows: readonly number[];
}

/** The texts of the entities of a page, one after another. */
export interface PageText {
  readonly bytes: Bytes;
  /** Start of each row's text, and the end of the last. */
  readonly starts: Uint32Array;
}

/** Approximate memory of an entity or a value, without its characters. */
const ENTITY_BYTES = 308;
const VALUE_BYTES = 32;
/** Limit of the text that is searched from its start for each property of a filter. */
const SEARCHED_BYTES_MAX = 4 * MIB;
const SEARCHED_NAMES_MAX = 8;

/**
 * Neighbouring entities of a table, with cached results: a filter decodes each property that it
 * names once, and the page is rendered once, however often it is requested.
 */
export class EntityPage implements Columns, Derived {
  readonly #keys: Bytes[] = [];
  readonly #stamps: Stamp[] = [];
  readonly #sizes: number[] = [];
  readonly #properties: string[] = [];
  readonly #columns = new Map<string, Column>();
  #text: PageText | null = null;
  #bytes = 0;
  #textBytes = 0;

  constructor(entries: readonly Entry[]) {
    for (const { key, value } of entries) {
      const { stamp, properties } = decodeEntity(value);
      this.#keys.push(key);
      this.#sizes.push(key.length + value.length);
      this.#stamps.push(stamp);
      this.#properties.push(properties);
      this.#bytes += ENTITY_BYTES + key.length + properties.length;
      this.#textBytes += properties.length;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The first row whose key is not before `key`. */
  rowAt(key: Bytes): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as Bytes).compare(key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Approximate size of the entity in an answer. */
  bytesOf(row: number): number {
    return this.#sizes[row] as number;
  }

  place(row: number): EntityPlace {
    return placeOfKey(this.#keys[row] as Bytes);
  }

  entity(row: number): EntityParts {
    const [stamp, properties] = [this.#stamps[row] as Stamp, this.#properties[row] as string];
    return new PageEntity(this.#keys[row] as Bytes, stamp, properties);
  }

  /**
   * Whether a filter with this many property names tests entities one by one, decoding each once.
   * By columns it would search the whole page for each property, which can take longer than a body
   * may.
   */
  isReadByRow(names: number): boolean {
    return names > SEARCHED_NAMES_MAX || names * this.#textBytes > SEARCHED_BYTES_MAX;
  }

  /** The rows from `first` to before `end` that match a filter with this many property names. */
  select(filter: Filter | null, names: number, first: number, end: number): number[] {
    const found: number[] = [];
    if (filter === null) {
      for (let row = first; row < end; row++) found.push(row);
    } else if (this.isReadByRow(names)) {
      for (let row = first; row < end; row++) {
        if (matches(filter, new ReadEntity(this.entity(row)))) found.push(row);
      }
    } else if (mayMatch(filter, this)) {
      const rows = new Uint8Array(end - first).fill(1);
      narrow(filter, this, rows, first);
      for (let row = first; row < end; row++) if (rows[row - first] === 1) found.push(row);
    }
    return found;
  }

  column(name: string): Column {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = columnOf(this.#keys.map((_, row) => findInEntity(this.entity(row), name)));
      this.#columns.set(name, column);
      this.#bytes += VALUE_BYTES * this.size;
    }
    return column;
  }

  /** The text of each entity. `render` must always be the same function: its output is cached. */
  text(render: (entity: EntityParts) => string): PageText {
    if (this.#text === null) {
      const texts = this.#keys.map((_, row) => render(this.entity(row)));
      const starts = new Uint32Array(texts.length + 1);
      const whole = texts.join("");
      const bytes = Buffer.from(whole, "utf8");
      const isAscii = bytes.length === whole.length;
      texts.forEach((text, row) => {
        const length = isAscii ? text.length : Buffer.byteLength(text, "utf8");
        starts[row + 1] = (starts[row] as number) + length;
      });
      this.#text = { bytes, starts };
      this.#bytes += bytes.length + starts.byteLength;
    }
    return this.#text;
  }
}

/** Decodes its keys only when they are needed. */
class PageEntity implements EntityParts {
  readonly stamp: Stamp;
  readonly properties: string;
  readonly #key: Bytes;
  #place: EntityPlace | null = null;

  constructor(key: Bytes, stamp: Stamp, properties: string) {
    this.#key = key;
    this.stamp = stamp;
    this.properties = properties;
  }

  get partition(): string {
    this.#place ??= placeOfKey(this.#key);
    return this.#place.partition;
  }

  get row(): string {
    this.#place ??= placeOfKey(this.#key);
    return this.#place.row;
  }
}

/** A fully decoded entity, for filters with very many properties. */
class ReadEntity implements Filtered {
  readonly #entity: EntityParts;
  readonly #properties = new Map<string, Property>();
  readonly #values = new Map<string, Comparable | null>();

  constructor(entity: EntityParts) {
    this.#entity = entity;
    for (const property of readProperties(entity.properties)) {
      this.#properties.set(property.name, property);
    }
  }

  find(name: string): Comparable | null {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const property = this.#properties.get(name);
    const isOfEntity = name === "PartitionKey" || name === "RowKey" || name === "Timestamp";
    const found = isOfEntity
      ? findInEntity(this.#entity, name)
      : property === undefined
        ? null
        : comparableOf(property);
    this.#values.set(name, found);
    return found;
  }
}

export const ENTITY_PAGES: Derivation<EntityPage> = {
  space: SPACE.entity,
  make: (entries) => new EntityPage(entries),
};
