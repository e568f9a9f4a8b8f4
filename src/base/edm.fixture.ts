import fc from "fast-check";
import type { Property } from "./edm.ts";

/** Texts that a careless search in JSON would misread, and any others. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", '"', "\\", '\\"', ',"a":1', ',"a":"', '\\",\\"b":2', "\ud800", "é", "a,b"),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const anyDouble = fc.double().map((number) => {
  if (!Number.isFinite(number)) return `"${number}"`;
  const text = Object.is(number, -0) ? "-0" : String(number);
  return /[.e]/.test(text) ? text : `${text}.0`;
});

const anyDateTime = fc
  .tuple(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), fc.nat(9_999_999))
  .map(([date, ticks]) => {
    const fraction = String(ticks).padStart(7, "0").replace(/0+$/, "");
    return `"${date.toISOString().slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}Z"`;
  });

/** Small ranges, so that equal values occur. */
const anyValue: fc.Arbitrary<Pick<Property, "type" | "json">> = fc.oneof(
  fc.record({
    type: fc.constant("Edm.String" as const),
    json: anyText.map((t) => JSON.stringify(t)),
  }),
  fc.record({
    type: fc.constant("Edm.Int32" as const),
    json: fc.integer({ min: -3, max: 3 }).map(String),
  }),
  fc.record({
    type: fc.constant("Edm.Int64" as const),
    json: fc
      .oneof(
        fc.bigInt({ min: -3n, max: 3n }),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      )
      .map((number) => `"${number}"`),
  }),
  fc.record({
    type: fc.constant("Edm.Double" as const),
    json: fc.oneof(anyDouble, fc.constantFrom("1.0", "-0.0", '"NaN"', '"Infinity"', "1e+21")),
  }),
  fc.record({ type: fc.constant("Edm.Boolean" as const), json: fc.boolean().map(String) }),
  fc.record({ type: fc.constant("Edm.DateTime" as const), json: anyDateTime }),
  fc.record({ type: fc.constant("Edm.Guid" as const), json: fc.uuid().map((guid) => `"${guid}"`) }),
  fc.record({
    type: fc.constant("Edm.Binary" as const),
    json: fc.uint8Array({ maxLength: 4 }).map((b) => `"${Buffer.from(b).toString("base64")}"`),
  }),
);

export const PROPERTY_NAMES = ["a", "b", "ab", "Value", "é"];

/** The properties of one entity, with distinct names. */
export const anyProperties: fc.Arbitrary<Property[]> = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...PROPERTY_NAMES), anyValue).map(([name, v]) => ({ name, ...v })),
  { selector: ({ name }) => name, maxLength: 4 },
);
