import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  KEY_BYTES_MAX,
  type KeyPart,
  KeyReader,
  key,
  keyAfter,
  keyOfTextPrefix,
  ordinalPart,
  SPACE,
} from "./keys.ts";

// Texts of all kinds, with many of the characters that need an escape.
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ unit: fc.constantFrom("\0", "\u0001", "\u0002", "a", "\u{10ffff}"), maxLength: 4 }),
);
const numbers = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(3),
  fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 40),
);
const bigints = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 3n));

/** Pairs of tuples with the same kinds of parts, often equal in the first ones. */
const pairs = fc
  .array(fc.constantFrom("text", "number", "bigint"), { minLength: 1, maxLength: 4 })
  .chain((kinds) => {
    const parts = kinds.map((kind): fc.Arbitrary<KeyPart> => {
      return kind === "text" ? texts : kind === "number" ? numbers : bigints;
    });
    const tuple = fc.tuple(...parts);
    return fc
      .tuple(tuple, tuple, fc.nat(kinds.length))
      .map(([a, b, same]): [KeyPart[], KeyPart[]] => {
        return [a, [...a.slice(0, same), ...b.slice(same)]];
      });
  });

function comparePart(a: KeyPart, b: KeyPart): number {
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareTuples(a: readonly KeyPart[], b: readonly KeyPart[]): number {
  for (const [at, part] of a.entries()) {
    const order = comparePart(part, b[at] as KeyPart);
    if (order !== 0) return order;
  }
  return 0;
}

test("keys sort by their parts, one after the other", () => {
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const order = Buffer.compare(key(SPACE.blob, ...a), key(SPACE.blob, ...b));
      assert.equal(order, compareTuples(a, b));
    }),
  );
});

test("keys of different spaces do not mix", () => {
  const first = key(SPACE.blob, 2n ** 64n - 1n, "\u{10ffff}");
  assert.ok(Buffer.compare(first, key(SPACE.stagedBlob)) < 0);
  assert.equal(new Set(Object.values(SPACE)).size, Object.values(SPACE).length);
});

test("the parts of a key can be read back", () => {
  fc.assert(
    fc.property(texts, bigints, texts, numbers, (first, big, second, number) => {
      const reader = new KeyReader(key(SPACE.blob, first, big, second, number));
      assert.equal(reader.text(), Buffer.from(first).toString());
      assert.equal(reader.u64(), big);
      assert.equal(reader.text(), Buffer.from(second).toString());
      assert.equal(reader.number(), number);
    }),
  );
});

test("a text without its end mark is refused", () => {
  assert.throws(() => new KeyReader(keyOfTextPrefix(SPACE.blob, [], "abc")).text(), /no end/);
});

test("all keys with the same first parts lie between that prefix and keyAfter", () => {
  fc.assert(
    fc.property(bigints, texts, texts, (id, name, rest) => {
      const prefix = key(SPACE.blob, id, name);
      const below = key(SPACE.blob, id, name, rest);
      assert.ok(prefix.compare(below) <= 0 && below.compare(keyAfter(prefix)) < 0);
      const other = key(SPACE.blob, id, `${name}${rest}x`);
      assert.ok(other.compare(prefix) < 0 || other.compare(keyAfter(prefix)) >= 0);
    }),
  );
});

test("all keys whose text begins with a prefix lie between keyOfTextPrefix and keyAfter", () => {
  const well = texts.map((text) => Buffer.from(text).toString());
  fc.assert(
    fc.property(well, well, (prefix, text) => {
      const from = keyOfTextPrefix(SPACE.blob, [7n], prefix);
      const found = key(SPACE.blob, 7n, text);
      const inside = from.compare(found) <= 0 && found.compare(keyAfter(from)) < 0;
      assert.equal(inside, Buffer.from(text).indexOf(prefix) === 0 || prefix === "");
    }),
  );
});

test("keyAfter skips bytes that cannot be incremented", () => {
  assert.deepEqual(keyAfter(Buffer.from([1, 2])), Buffer.from([1, 3]));
  assert.deepEqual(keyAfter(Buffer.from([1, 0xff, 0xff])), Buffer.from([2]));
  assert.throws(() => keyAfter(Buffer.from([0xff])), /no key/);
});

test("bytes are stored in a key unchanged", () => {
  assert.deepEqual(key(SPACE.engine, Buffer.from([0, 9])), Buffer.from([SPACE.engine, 0, 9]));
});

test("the key of the longest blob name fits", () => {
  const name = "\u{ffff}".repeat(1_024);
  assert.ok(key(SPACE.blob, 2n ** 64n - 1n, name, 2n ** 64n - 1n).length <= KEY_BYTES_MAX);
});

test("ordinal parts sort as JavaScript compares strings, and can be read back", () => {
  const units = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(charOf), maxLength: 6 });
  const any = fc.oneof(
    units,
    fc.constantFrom("\u{10000}", "\ue000", "\ud800", "\0", "\u0001a", ""),
  );
  fc.assert(
    fc.property(any, any, (left, right) => {
      const [one, other] = [ordinalKey(left), ordinalKey(right)];
      assert.equal(Math.sign(one.compare(other)), left < right ? -1 : left > right ? 1 : 0);
      const parts = new KeyReader(one);
      assert.deepEqual([parts.ordinal(), parts.u64()], [left, 7n]);
    }),
  );
});

function charOf(unit: number): string {
  return String.fromCharCode(unit);
}

function ordinalKey(text: string) {
  return key(SPACE.entity, ordinalPart(text), 7n);
}
