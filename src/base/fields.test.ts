import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  added,
  bytes,
  count,
  type Field,
  flag,
  format,
  listOf,
  oneOf,
  orNull,
  pairs,
  skippedPairs,
  struct,
  text,
  u64,
  units,
} from "./fields.ts";

const everything = format(3, {
  count,
  u64,
  flag,
  text,
  units,
  bytes,
  maybe: orNull(text),
  many: listOf(struct({ at: count, name: orNull(bytes) })),
  pairs,
  word: oneOf("none", "some", "all"),
});

const plain = { noNullPrototype: true };
const values = fc.record(
  {
    count: fc.oneof(fc.maxSafeNat(), fc.nat(300)),
    u64: fc.bigInt(0n, 2n ** 64n - 1n),
    flag: fc.boolean(),
    text: fc.string({ unit: "grapheme", maxLength: 700 }),
    units: fc.array(fc.nat(0xffff), { maxLength: 20 }).map((it) => String.fromCharCode(...it)),
    bytes: fc.uint8Array({ maxLength: 900 }).map((it) => Buffer.from(it)),
    maybe: fc.option(fc.string({ unit: "grapheme" })),
    many: fc.array(
      fc.record(
        {
          at: fc.nat(),
          name: fc.option(fc.uint8Array().map((it) => Buffer.from(it))),
        },
        plain,
      ),
    ),
    pairs: fc.array(fc.tuple(fc.string(), fc.string())),
    word: fc.constantFrom("none" as const, "some" as const, "all" as const),
  },
  plain,
);

test("a record reads as it was written", () => {
  fc.assert(
    fc.property(values, (value) => {
      assert.deepEqual(everything.decode(everything.encode(value)), value);
    }),
  );
});

test("a reader that skips pairs finds all other fields", () => {
  const shape = { first: text, pairs, last: u64 };
  const skipping = format(1, { ...shape, pairs: skippedPairs });
  fc.assert(
    fc.property(fc.string(), values, (first, { pairs, u64: last }) => {
      const record = format(1, shape).encode({ first, pairs, last });
      assert.deepEqual(skipping.decode(record), { first, pairs: null, last });
      for (let length = 1; length < record.length; length++) {
        assert.throws(() => skipping.decode(record.subarray(0, length)), RangeError);
      }
    }),
  );
  assert.throws(() => skipping.encode({ first: "", pairs: null, last: 0n }), /cannot be written/);
});

test("a record begins with the number of its format, and is not read as another", () => {
  const one = format(1, { name: text });
  const two = format(2, { name: text });
  assert.equal(one.encode({ name: "x" })[0], 1);
  assert.throws(() => two.decode(one.encode({ name: "x" })), /record format 1, expected 2/);
});

test("an older record has the default of an added field", () => {
  const before = format(1, { name: text });
  const after = format(1, { name: text, size: added(count, 7), note: added(orNull(text), null) });
  assert.deepEqual(after.decode(before.encode({ name: "x" })), { name: "x", size: 7, note: null });
  const now = { name: "x", size: 9, note: "y" };
  assert.deepEqual(after.decode(after.encode(now)), now);
});

test("a record that ends too early is refused, wherever it ends", () => {
  const kind = format(1, { text, bytes, u64, flag });
  const whole = kind.encode({ text: "abc", bytes: Buffer.from("de"), u64: 1n, flag: true });
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => kind.decode(whole.subarray(0, length)), RangeError);
  }
});

test("a value that a field cannot hold is refused when it is written", () => {
  const refused = <T>(field: Field<T>, value: T) =>
    assert.throws(() => format(1, { field }).encode({ field: value }), RangeError);
  for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) refused(count, value);
  for (const value of [-1n, 2n ** 64n]) refused(u64, value);
  refused(oneOf("a", "b") as Field<string>, "c");
});

test("a word that a later version added is refused when it is read", () => {
  const later = format(1, { word: oneOf("a", "b") });
  assert.throws(
    () => format(1, { word: oneOf("a") }).decode(later.encode({ word: "b" })),
    RangeError,
  );
});
