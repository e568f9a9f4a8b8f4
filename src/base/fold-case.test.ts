import assert from "node:assert/strict";
import { test } from "node:test";
import { foldCase } from "./fold-case.ts";

const UNITS = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));

test("every unit becomes its upper case if that is one unit, else stays the same", () => {
  for (const unit of UNITS) {
    const upper = unit.toUpperCase();
    const becomesAscii = unit > "\x7f" && upper <= "\x7f";
    const expected = upper.length === 1 && !becomesAscii ? upper : unit;
    assert.equal(foldCase(unit), expected, unit.charCodeAt(0).toString(16));
  }
});

test("folding twice changes nothing", () => {
  for (const unit of UNITS) assert.equal(foldCase(foldCase(unit)), foldCase(unit));
});

test("folding preserves the length and surrogate pairs", () => {
  assert.equal(foldCase("straße"), "STRAßE");
  assert.equal(foldCase("ıſ\ud801\udc28\udc00x"), "ıſ\ud801\udc28\udc00X");
  assert.equal(foldCase("aé\u0451"), "AÉ\u0401");
  assert.equal(foldCase(""), "");
});
