import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadMarks } from "./read-marks.ts";

const KIB = 1024;

test("a run is new once", () => {
  const marks = new ReadMarks();
  assert.equal(marks.mark(10_000 * KIB, 1), true);
  assert.equal(marks.mark(10_000 * KIB, 1), false);
  assert.equal(marks.mark(0, 100 * KIB), true);
  assert.equal(marks.mark(50 * KIB, 70 * KIB), false);
  assert.equal(marks.mark(10_000 * KIB, 1), false);
});

test("a run that was only partly read is new", () => {
  const marks = new ReadMarks();
  marks.mark(0, 1024 * KIB);
  assert.equal(marks.mark(1000 * KIB, 50 * KIB), true);
  assert.equal(marks.mark(0, 1050 * KIB), false);
  assert.equal(marks.mark(0, 8192 * KIB), true);
  assert.equal(marks.mark(0, 8192 * KIB), false);
});

test("sequential reads of a mark or more are new each time", () => {
  const marks = new ReadMarks();
  for (let at = 0; at < 20_000 * KIB; at += 300 * KIB) {
    assert.equal(marks.mark(at, 300 * KIB), true);
  }
});
