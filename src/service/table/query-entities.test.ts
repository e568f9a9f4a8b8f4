import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { KIB } from "../../base/limits.ts";
import type { Filter } from "../../rules/entity-filter.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import { derivedRange } from "../../store/accelerated.ts";
import type { Entry } from "../../store/entry.ts";
import type { Store, View } from "../../store/store.ts";
import { IN_MEMORY, runningOnce } from "../shared/service-data.fixture.ts";
import { QUERY_BYTES_MAX, QUERY_MS_MAX } from "./query-entities.ts";
import { Tables, whereN } from "./tables.fixture.ts";

/** In texts of 32 KiB. */
const SIXTEENTH_OF_PAGE = QUERY_BYTES_MAX / 16 / (32 * KIB);

test("a query that finds nothing for five seconds ends its page with a token", async () => {
  const tables = await Tables.open(IN_MEMORY);
  await tables.fill("p", 5_000);
  let bodies = 0;
  // Each read of the store takes five seconds.
  const store: Store = {
    ...runningOnce(tables.store),
    read<T>(body: (view: View) => T) {
      bodies++;
      tables.clock.advance(QUERY_MS_MAX);
      return runningOnce(tables.store).read(body);
    },
  };
  const filter = whereN("eq", 4_999);
  const first = await tables.query({ filter }, { store });
  assert.deepEqual([first.entities.length, first.next], [0, { partition: "p", row: "02000" }]);
  assert.equal(bodies, 2);
  const second = await tables.query({ filter, from: first.next });
  assert.deepEqual([second.entities.length, second.next], [1, null]);
});

test("a long query takes several bodies, and finds everything once", async () => {
  const tables = await Tables.open(IN_MEMORY);
  await tables.fill("p", 4_500);
  let bodies = 0;
  const store: Store = {
    ...runningOnce(tables.store),
    read<T>(body: (view: View) => T) {
      bodies++;
      return runningOnce(tables.store).read(body);
    },
  };
  const { entities, next } = await tables.query({ filter: whereN("ge", 3_600) }, { store });
  assert.deepEqual(
    [entities.length, entities[0]?.row, entities.at(-1)?.row],
    [900, "03600", "04499"],
  );
  assert.equal(next, null);
  assert.equal(bodies, 5);
});

test("a page of large entities ends early with a token, and nothing is left out", async () => {
  const tables = await Tables.open();
  await tables.fillLarge("p", 40, SIXTEENTH_OF_PAGE);
  const pages: number[] = [];
  let from: EntityPlace | null = null;
  do {
    const { entities, next } = await tables.query({ from });
    pages.push(entities.length);
    from = next;
  } while (from !== null);
  assert.deepEqual(pages, [16, 16, 8]);
});

test("a body reads few large entities, even if none of them matches", async () => {
  const tables = await Tables.open(IN_MEMORY);
  await tables.fillLarge("p", 128, SIXTEENTH_OF_PAGE);
  let bodies = 0;
  const store: Store = {
    ...runningOnce(tables.store),
    read<T>(body: (view: View) => T) {
      bodies++;
      return runningOnce(tables.store).read(body);
    },
  };
  const { entities, next } = await tables.query({ filter: whereN("eq", 1) }, { store });
  assert.deepEqual([entities.length, next], [0, null]);
  assert.ok(bodies >= 4, `${bodies}`);
});

test("conditions on the keys become key ranges instead of scans", async () => {
  const tables = await Tables.open(IN_MEMORY);
  await tables.fill("p", 2_000);
  await tables.fill("q", 2_000);
  const is = (name: string, value: string) =>
    ({ kind: "compare", name, operator: "eq", value: { kind: "string", value } }) as const;
  let entries = 0;
  const count = (found: readonly Entry[]) => {
    entries += found.length;
    return found;
  };
  const counting = (view: View): View => ({
    get: (key) => view.get(key),
    now: () => view.now(),
    onDiscard: (release) => view.onDiscard(release),
    range: (from, until, options) => view.range(from, until, options),
    derivedRange(derivation, from, until, limit) {
      const counted: typeof derivation = {
        space: derivation.space,
        make: (found) => derivation.make(count(found)),
      };
      return derivedRange(view, counted, from, until, limit);
    },
  });
  const store: Store = {
    ...runningOnce(tables.store),
    read: (body) => runningOnce(tables.store).read((view) => body(counting(view))),
  };
  const rows = { kind: "any", terms: [is("RowKey", "00005"), is("RowKey", "01999")] } as const;
  const filter = { kind: "all", terms: [is("PartitionKey", "q"), rows] } as const;
  const { entities } = await tables.query({ filter }, { store });
  assert.deepEqual(
    entities.map(({ row }) => row),
    ["00005", "01999"],
  );
  assert.equal(entries, 2);
});

test("bounds that are longer than any key are valid", async () => {
  const tables = await Tables.open();
  await tables.fill("p", 3);
  const long = "語".repeat(5_000);
  const from = { partition: "p", row: "00001" };
  const where = (operator: "lt" | "gt", name: string) =>
    ({ kind: "compare", name, operator, value: { kind: "string", value: long } }) as const;
  const all = { kind: "all", terms: [where("lt", "PartitionKey"), where("lt", "RowKey")] } as const;
  assert.equal((await tables.query({ filter: all })).entities.length, 3);
  assert.equal((await tables.query({ filter: all, from })).entities.length, 2);
  const none = {
    kind: "all",
    terms: [where("gt", "PartitionKey"), where("gt", "RowKey")],
  } as const;
  assert.equal((await tables.query({ filter: none })).entities.length, 0);
});

test("with very many conditions a body tests few entities, and yields before the next body", async () => {
  const tables = await Tables.open();
  await tables.fill("p", 2_000);
  const onOne = Array.from({ length: 250 }, (_, at) => whereN("eq", -1 - at));
  const onMany = onOne.map((term, at) => ({ ...term, name: `n${at}` }) as Filter);
  for (const terms of [onOne, onMany]) {
    // The last one matches, so all of them are tested.
    const filter = { kind: "any", terms: [...terms.slice(1), whereN("eq", 1_999)] } as const;
    const slices = await slicesDuring(async () => {
      assert.equal((await tables.query({ filter })).entities.length, 1);
    });
    assert.ok(slices >= 30, `${slices} slices`);
  }
});

test("a filter of very many properties finds what an equivalent short one finds", async () => {
  const tables = await Tables.open();
  await tables.fill("p", 50);
  const absent = Array.from({ length: 20 }, (_, at) => ({ ...whereN("eq", 1), name: `n${at}` }));
  const text = (name: string, value: string) =>
    ({ kind: "compare", name, operator: "eq", value: { kind: "string", value } }) as const;
  const key = { kind: "all", terms: [text("PartitionKey", "p"), text("RowKey", "00003")] } as const;
  const time = {
    kind: "compare",
    name: "Timestamp",
    operator: "lt",
    value: { kind: "datetime", value: "0001" },
  } as const;
  const filter = {
    kind: "any",
    terms: [...absent, whereN("ge", 48), key, time] as Filter[],
  } as const;
  const { entities } = await tables.query({ filter });
  assert.deepEqual(
    entities.map(({ row }) => row),
    ["00003", "00048", "00049"],
  );
});
