import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JSON_DEPTH_MAX, JsonError, parseJson, plainValue, positionOf } from "./json-text.ts";

const RUNS = { numRuns: 300 };

test("a JSON text has the value that JSON.parse gives it, whatever its blanks", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "small" }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(plainValue(parseJson(text)), JSON.parse(text));
    }),
    RUNS,
  );
});

test("a damaged JSON text is refused exactly if JSON.parse refuses it", () => {
  const damage = fc.record({
    value: fc.jsonValue({ depthSize: "small" }),
    at: fc.nat(),
    put: fc.constantFrom("", ",", '"', "{", "]", ":", "\\", "0", "-", "\n", "\u0001", "//"),
  });
  fc.assert(
    fc.property(damage, ({ value, at, put }) => {
      const whole = JSON.stringify(value);
      const place = at % (whole.length + 1);
      const text = whole.slice(0, place) + put + whole.slice(place + 1);
      assert.equal(
        isRefused(() => parseJson(text)),
        isRefused(() => JSON.parse(text)),
        text,
      );
    }),
    { numRuns: 2_000 },
  );
});

function isRefused(parse: () => unknown): boolean {
  try {
    parse();
    return false;
  } catch (error) {
    assert.ok(error instanceof JsonError || error instanceof SyntaxError);
    return true;
  }
}

test("every value knows where it stands", () => {
  const text = '{\n  "a": [1, "two"],\r\n  "b": {}\n}\n';
  const top = parseJson(text);
  assert.equal(top.kind, "object");
  const [a, b] = top.kind === "object" ? top.members : [];
  assert.ok(a?.value.kind === "list" && b?.value.kind === "object");
  const shown = (node: { start: number; end: number }) => text.slice(node.start, node.end);
  assert.deepEqual(a.value.items.map(shown), ["1", '"two"']);
  assert.equal(shown(b.value), "{}");
  assert.deepEqual(positionOf(text, a.start), { line: 2, column: 3 });
  assert.deepEqual(positionOf(text, b.value.start), { line: 3, column: 8 });
});

test("a mistake is placed where it is, and its message repeats nothing of the text", () => {
  for (const [text, message, line, column] of [
    ['{"a": 1,}', /a name in quotes is missing/, 1, 9],
    ['{"a": 1\n "b": 2}', /"," or "}" is missing/, 2, 2],
    ['["secret]', /a quote is not closed/, 1, 2],
    ['["sec\nret"]', /a text is malformed/, 1, 2],
    ['{"a" 1}', /":" is missing/, 1, 6],
    ["[secret]", /a value is malformed/, 1, 2],
    ["", /a value is missing/, 1, 1],
    ["{} secret", /behind the end/, 1, 4],
    ["[".repeat(JSON_DEPTH_MAX + 2), /nested too deeply/, 1, JSON_DEPTH_MAX + 2],
  ] as const) {
    assert.throws(
      () => parseJson(text),
      (error) => {
        assert.ok(error instanceof JsonError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /sec/);
        assert.deepEqual(positionOf(text, error.offset), { line, column });
        return true;
      },
      text,
    );
  }
});

test("a name that is special in JavaScript is an ordinary name", () => {
  const value = plainValue(parseJson('{"__proto__": {"a": 1}}')) as object;
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(Object.keys(value), ["__proto__"]);
});
