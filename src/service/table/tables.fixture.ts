import type { AnyOf } from "../../base/any-of.fixture.ts";
import { ManualClock } from "../../base/clock.ts";
import type { Property } from "../../base/edm.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { OWNER } from "../../rules/access.ts";
import type { Filter, Operator } from "../../rules/entity-filter.ts";
import type { Store } from "../../store/store.ts";
import {
  type DataOptions,
  openServiceData,
  type ServiceData,
} from "../shared/service-data.fixture.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { createTable } from "./create-table.ts";
import { deleteTable } from "./delete-table.ts";
import { type QueryEntities, queryEntities } from "./query-entities.ts";
import { writeBatch } from "./write-batch.ts";

/** A table in its own store, with short methods for tests. */
export class Tables {
  readonly clock: ManualClock;
  readonly #data: AnyOf<ServiceData>;
  readonly asked: EntitiesAsked = {
    at: { account: "account", table: "Table" },
    access: OWNER,
    keyRange: null,
  };

  private constructor(clock: ManualClock, data: AnyOf<ServiceData>) {
    this.clock = clock;
    this.#data = data;
  }

  static async open(options?: DataOptions): Promise<Tables> {
    const clock = new ManualClock(1_700_000_000_000);
    const tables = new Tables(clock, await openServiceData(clock, options));
    await createTable(tables.context, tables.asked);
    return tables;
  }

  /** Of another front end at each use. */
  get context(): TableContext {
    return { store: this.store };
  }

  get store(): Store {
    return this.#data.next().store;
  }

  /** Adds rows from 00000, each with its number. */
  async fill(partition: string, rows: number): Promise<void> {
    for (let first = 0; first < rows; first += 100) {
      const writes = Array.from({ length: Math.min(100, rows - first) }, (_, at) => ({
        kind: "insertEntity" as const,
        place: { partition, row: String(first + at).padStart(5, "0") },
        properties: [int("n", first + at)],
      }));
      await writeBatch(this.context, { ...this.asked, writes });
    }
  }

  /** Adds rows from 00000, each with this many texts of 32 KiB. */
  async fillLarge(partition: string, rows: number, texts: number): Promise<void> {
    const json = `"${"x".repeat(32 * KIB)}"`;
    const properties = Array.from({ length: texts }, (_, at): Property => {
      return { name: `text${at}`, type: "Edm.String", json };
    });
    for (let row = 0; row < rows; row++) {
      const place = { partition, row: String(row).padStart(5, "0") };
      const write = { kind: "insertEntity", place, properties } as const;
      await writeBatch(this.context, { ...this.asked, writes: [write] });
    }
  }

  async query(more: Partial<QueryEntities> = {}, context = this.context) {
    const asked = { ...this.asked, filter: null, resultsMax: 1_000, from: null, ...more };
    const { found, next } = await queryEntities(context, asked);
    const entities = found.flatMap(({ page, rows }) => rows.map((row) => page.entity(row)));
    return { entities, next };
  }

  delete(): Promise<void> {
    return deleteTable(this.context, this.asked);
  }

  /** Counts the entity records of all tables. */
  async entities(): Promise<number> {
    const all = key(SPACE.entity);
    return this.store.read((view) => view.range(all, keyAfter(all), { limit: 100_000 }).length);
  }
}

export function int(name: string, value: number): Property {
  return { name, type: "Edm.Int32", json: String(value) };
}

export function whereN(operator: Operator, value: number): Filter {
  return { kind: "compare", name: "n", operator, value: { kind: "number", value } };
}
