import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyProperties, PROPERTY_NAMES } from "../base/edm.fixture.ts";
import { formatProperties, type Property } from "../base/edm.ts";
import { judgeByKeyRange } from "./access.ts";
import { columnOf, narrow } from "./entity-columns.ts";
import {
  type Comparable,
  comparableOf,
  type Filter,
  findInEntity,
  matches,
  type Operator,
} from "./entity-filter.ts";
import { clip, comparePlaces, type KeySpan, planQuery, spanOfRange } from "./entity-plan.ts";

interface Entity {
  readonly partition: string;
  readonly row: string;
  readonly list: readonly Property[];
}

const anyKey = fc.constantFrom("", "a", "aa", "b", "b\0", "c", "\ue000", "\u{10000}");
const anyEntity: fc.Arbitrary<Entity> = fc.record({
  partition: anyKey,
  row: anyKey,
  list: anyProperties,
});
const anyOperator = fc.constantFrom<Operator>("eq", "ne", "gt", "ge", "lt", "le");
const anyValue = anyProperties
  .filter((list) => list.length > 0)
  .map(([first]) => comparableOf(first as Property));

const onKey = fc.record({
  kind: fc.constant("compare" as const),
  name: fc.constantFrom("PartitionKey", "RowKey"),
  operator: anyOperator,
  value: fc.oneof(
    { weight: 9, arbitrary: anyKey.map((value) => ({ kind: "string", value }) as Comparable) },
    { weight: 1, arbitrary: anyValue },
  ),
});
const onProperty = fc.record({
  kind: fc.constant("compare" as const),
  name: fc.constantFrom(...PROPERTY_NAMES),
  operator: anyOperator,
  value: anyValue,
});

const anyFilter: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    onKey,
    onProperty,
    fc.record({ kind: fc.constant("constant" as const), value: fc.boolean() }),
    fc.record({ kind: fc.constant("not" as const), term: tie("filter") }),
    fc.record({
      kind: fc.constantFrom("all" as const, "any" as const),
      terms: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }),
    }),
  ),
})).filter;

/** The definition, straightforward: three-way comparison of typed values. */
function naively(filter: Filter, entity: Entity): boolean {
  switch (filter.kind) {
    case "all":
      return !filter.terms.some((term) => !naively(term, entity));
    case "any":
      return filter.terms.filter((term) => naively(term, entity)).length > 0;
    case "not":
      return !naively(filter.term, entity);
    case "constant":
      return filter.value;
    case "compare": {
      const found = naiveValue(entity, filter.name);
      if (found === null || found.kind !== filter.value.kind) return false;
      const isNan = [found.value, filter.value.value].some((value) => Number.isNaN(value));
      if (isNan) return filter.operator === "ne";
      const order = naiveOrder(found, filter.value);
      return { eq: [0], ne: [-1, 1], gt: [1], ge: [0, 1], lt: [-1], le: [-1, 0] }[
        filter.operator
      ].includes(order);
    }
  }
}

function naiveValue({ partition, row, list }: Entity, name: string): Comparable | null {
  if (name === "PartitionKey") return { kind: "string", value: partition };
  if (name === "RowKey") return { kind: "string", value: row };
  const property = list.find((one) => one.name === name);
  return property === undefined ? null : comparableOf(property);
}

function naiveOrder(left: Comparable, right: Comparable): number {
  const [one, other] = [left, right].map(({ kind, value }) =>
    kind === "datetime" ? ticks(value) : value,
  ) as [Comparable["value"], Comparable["value"]];
  return one > other ? 1 : one < other ? -1 : 0;
}

function ticks(time: string): bigint {
  const [whole = "", fraction = ""] = time.split(".");
  return BigInt(Date.parse(`${whole}Z`)) * 10_000n + BigInt(fraction.padEnd(7, "0"));
}

function isIn(spans: readonly KeySpan[], place: Entity): boolean {
  return spans.some(
    ({ from, until }) =>
      comparePlaces(place, from) >= 0 && (until === null || comparePlaces(place, until) < 0),
  );
}

function valueIn({ partition, row, list }: Entity, name: string): Comparable | null {
  return findInEntity({ partition, row, stamp: 0n, properties: formatProperties(list) }, name);
}

function evaluated(filter: Filter, entity: Entity): boolean {
  return matches(filter, { find: (name) => valueIn(entity, name) });
}

test("a filter matches what its definition says, on values of all types", () => {
  fc.assert(
    fc.property(anyFilter, anyEntity, (filter, entity) => {
      assert.equal(evaluated(filter, entity), naively(filter, entity));
    }),
    { numRuns: 2_000 },
  );
});

test("a filter on many entities at once matches the same entities, and skips no match", () => {
  const anyRows = fc.array(fc.tuple(anyEntity, fc.boolean()), { maxLength: 12 });
  fc.assert(
    fc.property(anyFilter, anyRows, (filter, entities) => {
      const column = (name: string) => columnOf(entities.map(([one]) => valueIn(one, name)));
      const rows = Uint8Array.from(entities, ([, inQuestion]) => (inQuestion ? 1 : 0));
      narrow(filter, { column }, rows, 0);
      const wanted = entities.map(([one, inQuestion]) => inQuestion && naively(filter, one));
      assert.deepEqual(
        [...rows].map((row) => row === 1),
        wanted,
      );
    }),
    { numRuns: 2_000 },
  );
});

test("a plan misses no match, and is exact only where everything matches", () => {
  fc.assert(
    fc.property(anyFilter, fc.array(anyEntity, { maxLength: 20 }), (filter, entities) => {
      const { spans, exact } = planQuery(filter);
      for (const entity of entities) {
        const wanted = naively(filter, entity);
        if (wanted) assert.ok(isIn(spans, entity));
        if (exact) assert.equal(isIn(spans, entity), wanted);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("spans are in order and disjoint", () => {
  fc.assert(
    fc.property(anyFilter, (filter) => {
      const { spans } = planQuery(filter);
      for (const [at, span] of spans.entries()) {
        const next = spans[at + 1];
        if (next === undefined) continue;
        assert.ok(span.until !== null && comparePlaces(span.until, next.from) < 0);
      }
    }),
  );
});

test("keys joined by or become a span each, without anything between them", () => {
  const is = (name: string, value: string): Filter => ({
    kind: "compare",
    name,
    operator: "eq",
    value: { kind: "string", value },
  });
  const rows = ["r1", "r5", "r3"].map((row) => is("RowKey", row));
  const plan = planQuery({
    kind: "all",
    terms: [is("PartitionKey", "p"), { kind: "any", terms: rows }],
  });
  assert.equal(plan.exact, true);
  assert.deepEqual(
    plan.spans,
    ["r1", "r3", "r5"].map((row) => ({
      from: { partition: "p", row },
      until: { partition: "p", row: `${row}\0` },
    })),
  );
});

test("more alternatives than a plan can hold are tested one by one", () => {
  const ne = (name: string, value: string): Filter => ({
    kind: "compare",
    name,
    operator: "ne",
    value: { kind: "string", value },
  });
  const names = Array.from({ length: 40 }, (_, at) => `k${String(at).padStart(2, "0")}`);
  const terms = names.flatMap((name) => [ne("PartitionKey", name), ne("RowKey", name)]);
  const plan = planQuery({ kind: "all", terms });
  assert.equal(plan.exact, false);
  assert.ok(isIn(plan.spans, { partition: "x", row: "y", list: [] }));
});

test("the key range of a SAS is the span of the entities that it permits", () => {
  const bound = fc.option(anyKey, { nil: null });
  fc.assert(
    fc.property(bound, bound, bound, bound, anyEntity, (sp, sr, ep, er, entity) => {
      const range = {
        table: "t",
        startPartition: sp,
        startRow: sp === null ? null : sr,
        endPartition: ep,
        endRow: ep === null ? null : er,
      };
      const opens = judgeByKeyRange(range, "T", entity.partition, entity.row) === null;
      const everything = planQuery(null).spans;
      assert.equal(isIn(clip(everything, spanOfRange(range)), entity), opens);
    }),
  );
});
