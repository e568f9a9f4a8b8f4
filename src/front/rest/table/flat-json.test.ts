import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../../base/fault.ts";
import { DECODED_BYTES } from "../../../base/utf8-text.ts";
import { readFlatObject, readFlatObjectInSteps } from "./flat-json.ts";

function codeOf(text: string | Buffer): string {
  try {
    readFlatObject(Buffer.from(text));
    return "";
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error.code;
  }
}

test("an object is read with its numbers as they are written", () => {
  const text = '\ufeff { "a" : 1.0 , "b":"x\\n\\u0041\\"" ,"c":true,"d":null,"e":-1e-3 }\r\n';
  assert.deepEqual(
    [...readFlatObject(Buffer.from(text))],
    [
      ["a", { kind: "number", text: "1.0" }],
      ["b", { kind: "text", text: 'x\nA"' }],
      ["c", { kind: "boolean", value: true }],
      ["d", { kind: "null" }],
      ["e", { kind: "number", text: "-1e-3" }],
    ],
  );
  assert.equal(readFlatObject(Buffer.from("{}")).size, 0);
  assert.equal(readFlatObject(Buffer.from('{"__proto__":1}')).size, 1);
});

test("JSON that is not a flat object is refused", () => {
  for (const text of [
    "",
    "null",
    "[]",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1}{',
    '{"a":01}',
    '{"a":.5}',
    '{"a":NaN}',
    '{"a":"x}',
    '{"a":"\\x"}',
    '{"a":"\n"}',
    '{"a":{}}',
    '{"a":[1]}',
    "{'a':1}",
    "{a:1}",
  ]) {
    assert.equal(codeOf(text), "InvalidInput", text);
  }
  assert.equal(codeOf(Buffer.from([0x7b, 0xff, 0x7d])), "InvalidInput");
});

test("a name occurs once, and their number is limited", () => {
  assert.equal(codeOf('{"a":1,"a":2}'), "DuplicatePropertiesSpecified");
  assert.equal(codeOf('{"a":1,"\\u0061":2}'), "DuplicatePropertiesSpecified");
  const many = Array.from({ length: 10_000 }, (_, at) => `"p${at}":1`);
  assert.equal(codeOf(`{${many.join(",")}}`), "TooManyProperties");
});

test("it reads what JSON.parse reads", () => {
  const value = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.double(), fc.boolean());
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), (object) => {
      const text = JSON.stringify(object);
      const parsed: Record<string, unknown> = JSON.parse(text);
      for (const [name, found] of readFlatObject(Buffer.from(text))) {
        if (found.kind === "text") assert.equal(found.text, parsed[name]);
        else if (found.kind === "number") assert.ok(Object.is(Number(found.text), parsed[name]));
        else assert.equal(found.kind === "boolean" ? found.value : null, parsed[name]);
      }
    }),
  );
});

test("a long body is read in slices", () => {
  const members = Array.from({ length: 100 }, (_, at) => `"n${at}":"${"x".repeat(30_000)}"`);
  const reading = readFlatObjectInSteps(Buffer.from(`{${members.join(",")}}`));
  let pauses = 0;
  for (let step = reading.next(); step.done !== true; step = reading.next()) pauses++;
  assert.ok(pauses >= 40, `${pauses} pauses`);
});

test("a body is decoded in slices, before it is parsed", () => {
  const reading = readFlatObjectInSteps(Buffer.from(`not JSON ${"ä".repeat(DECODED_BYTES)}`));
  for (let pauses = 0; pauses < 2; pauses++) assert.equal(reading.next().done, false);
  assert.throws(() => reading.next(), Fault);
});

test("a text or number longer than any property is refused before it is read to its end", () => {
  assert.equal(codeOf(`{"a":"${"x".repeat(400_000)}`), "PropertyValueTooLarge");
  assert.equal(codeOf(`{"${"x".repeat(400_000)}`), "PropertyNameTooLong");
  assert.equal(codeOf(`{"a":${"[".repeat(2_000)}`), "InvalidInput");
});
