import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { Fault } from "../../base/fault.ts";
import { BATCH_MERGED_BYTES_MAX, KIB } from "../../base/limits.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import type { EntityWrite } from "./apply-write.ts";
import type { TableContext } from "./context.ts";
import { int, Tables } from "./tables.fixture.ts";
import { writeBatch } from "./write-batch.ts";

const TEXTS = 10;
const LARGE_BYTES = TEXTS * 32 * KIB;
const MANY = 20;
const TOO_MANY = Math.ceil(BATCH_MERGED_BYTES_MAX / LARGE_BYTES);

function place(at: number) {
  return { partition: "p", row: String(at).padStart(5, "0") };
}

function merges(count: number, value = 7): EntityWrite[] {
  return Array.from({ length: count }, (_, at) => ({
    kind: "mergeEntity",
    place: place(at),
    properties: [int("n", value)],
    ifMatch: "*",
  }));
}

async function largeEntities(count: number): Promise<Tables> {
  const tables = await Tables.open();
  await tables.fillLarge("p", count, TEXTS);
  return tables;
}

function write({ asked, context }: Tables, writes: readonly EntityWrite[], store?: Store) {
  const own: TableContext = store === undefined ? context : { store };
  return writeBatch(own, { ...asked, writes });
}

/** The values of a property, in the order of the rows; null where it is missing. */
async function valuesOf(tables: Tables, name: string): Promise<(number | null)[]> {
  const values: (number | null)[] = [];
  let from: EntityPlace | null = null;
  do {
    const { entities, next } = await tables.query({ from });
    for (const { properties } of entities) {
      assert.equal(properties.match(/"text\d+":/g)?.length, TEXTS);
      const found = new RegExp(`"${name}":(\\d+)`).exec(properties)?.[1];
      values.push(found === undefined ? null : Number(found));
    }
    from = next;
  } while (from !== null);
  return values;
}

/** Runs `before` ahead of each transaction. */
function storeWith(store: Store, before: () => Promise<unknown>): Store {
  class Interrupted extends StoreDecorator {
    override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
      await before();
      return super.transact(body);
    }
  }
  return new Interrupted(store);
}

test("merges into large entities let other work run in between", async () => {
  const tables = await largeEntities(MANY);
  const slices = await slicesDuring(async () => {
    assert.equal((await write(tables, merges(MANY))).kind, "written");
  });
  assert.ok(slices >= MANY, `${slices} slices`);
  assert.deepEqual(await valuesOf(tables, "n"), Array(MANY).fill(7));
});

test("a merge keeps what another write has changed meanwhile", async () => {
  const tables = await largeEntities(MANY);
  let transactions = 0;
  const store = storeWith(tables.store, async () => {
    if (++transactions !== 2) return;
    const properties = [int("other", 1)];
    const other = { kind: "mergeEntity", place: place(3), properties, ifMatch: "*" } as const;
    await write(tables, [other]);
  });
  assert.equal((await write(tables, merges(MANY), store)).kind, "written");
  assert.deepEqual(await valuesOf(tables, "n"), Array(MANY).fill(7));
  assert.equal((await valuesOf(tables, "other"))[3], 1);
});

test("long merges whose entities always change end with ServerBusy", async () => {
  const tables = await largeEntities(MANY);
  let value = 100;
  const store = storeWith(tables.store, () => write(tables, merges(MANY, value++)));
  const busy = (error: unknown) => error instanceof Fault && error.code === "ServerBusy";
  await assert.rejects(write(tables, merges(MANY), store), busy);
  assert.deepEqual(await valuesOf(tables, "n"), Array(MANY).fill(value - 1));
});

test("a batch that merges into too many bytes is refused, and writes nothing", async () => {
  const tables = await largeEntities(TOO_MANY);
  const done = await write(tables, merges(TOO_MANY));
  assert.equal(done.kind, "refused");
  assert.deepEqual(done.kind === "refused" && [done.fault.code, done.index], [
    "RequestBodyTooLarge",
    TOO_MANY - 1,
  ]);
  assert.deepEqual(await valuesOf(tables, "n"), Array(TOO_MANY).fill(null));
  assert.equal((await write(tables, merges(TOO_MANY - 2))).kind, "written");
});

test("a batch may delete or replace any number of bytes", async () => {
  const tables = await largeEntities(TOO_MANY);
  const writes = Array.from({ length: TOO_MANY }, (_, at): EntityWrite => {
    const ifMatch = "*";
    if (at % 2 === 0) return { kind: "deleteEntity", place: place(at), ifMatch };
    return { kind: "updateEntity", place: place(at), properties: [int("n", 1)], ifMatch };
  });
  assert.equal((await write(tables, writes)).kind, "written");
  assert.equal(await tables.entities(), Math.floor(TOO_MANY / 2));
});
