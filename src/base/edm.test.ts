import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyProperties, PROPERTY_NAMES } from "./edm.fixture.ts";
import { findProperty, formatProperties, readProperties } from "./edm.ts";

test("properties can be formatted and parsed, with name, type and value", () => {
  fc.assert(
    fc.property(anyProperties, (properties) => {
      assert.deepEqual(readProperties(formatProperties(properties)), properties);
    }),
  );
});

test("the text is JSON with every property once", () => {
  fc.assert(
    fc.property(anyProperties, (properties) => {
      const parsed = JSON.parse(`{${formatProperties(properties).slice(1)}}`);
      for (const { name, json } of properties) {
        assert.ok(Object.is(parsed[name], JSON.parse(json)), name);
      }
    }),
  );
});

test("one property is found without parsing the others, whatever their values", () => {
  fc.assert(
    fc.property(anyProperties, (properties) => {
      const text = formatProperties(properties);
      for (const name of PROPERTY_NAMES) {
        const wanted = properties.find((property) => property.name === name) ?? null;
        assert.deepEqual(findProperty(text, name), wanted);
      }
    }),
  );
});
