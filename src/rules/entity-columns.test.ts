import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Columns, columnOf, mayMatch, narrow } from "./entity-columns.ts";
import { type Comparable, type Filter, matches, type Operator } from "./entity-filter.ts";

const OPERATORS: readonly Operator[] = ["eq", "ne", "gt", "ge", "lt", "le"];

const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 0.5, 2n, 2n ** 60n),
);
const value: fc.Arbitrary<Comparable> = fc.oneof(
  { weight: 4, arbitrary: number.map((one) => ({ kind: "number" as const, value: one })) },
  fc.boolean().map((one) => ({ kind: "boolean" as const, value: one })),
  fc.constantFrom("", "a", "b").map((one) => ({ kind: "string" as const, value: one })),
);
/** Most columns have one type. */
const column = fc.oneof(
  fc
    .array(fc.integer({ min: -3, max: 3 }), { minLength: 6, maxLength: 6 })
    .map((all) => all.map((one): Comparable | null => ({ kind: "number", value: one }))),
  fc.array(fc.option(value), { minLength: 6, maxLength: 6 }),
);
const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small" },
    fc.record({
      kind: fc.constant("compare" as const),
      name: fc.constantFrom("a", "b"),
      operator: fc.constantFrom(...OPERATORS),
      value,
    }),
    fc.record({
      kind: fc.constantFrom("all" as const, "any" as const),
      terms: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("not" as const), term: tie("filter") }),
    fc.record({ kind: fc.constant("constant" as const), value: fc.boolean() }),
  ),
}));

test("a filter finds in columns what it finds row by row, and skips no column with a match", () => {
  fc.assert(
    fc.property(filter, column, column, (asked, a, b) => {
      const found: Record<string, (Comparable | null)[]> = { a, b };
      const columns: Columns = { column: (name) => columnOf(found[name] ?? []) };
      const wanted = a.map((_, row) =>
        matches(asked, { find: (name) => found[name]?.[row] ?? null }) ? 1 : 0,
      );
      for (const first of [0, 2]) {
        const rows = new Uint8Array(a.length - first).fill(1);
        narrow(asked, columns, rows, first);
        assert.deepEqual([...rows], wanted.slice(first));
      }
      if (wanted.includes(1)) assert.equal(mayMatch(asked, columns), true);
    }),
    { numRuns: 2_000 },
  );
});

test("a column of numbers that are all out of range is skipped", () => {
  const columns: Columns = {
    column: () => columnOf([1, 5, 3].map((one) => ({ kind: "number", value: one }))),
  };
  const mayBe = (operator: Operator, wanted: number) => {
    const asked = { kind: "number" as const, value: wanted };
    return mayMatch({ kind: "compare", name: "a", operator, value: asked }, columns);
  };
  assert.deepEqual(
    [
      mayBe("gt", 5),
      mayBe("ge", 5),
      mayBe("lt", 1),
      mayBe("le", 1),
      mayBe("eq", 6),
      mayBe("eq", 2),
    ],
    [false, true, false, true, false, true],
  );
});
