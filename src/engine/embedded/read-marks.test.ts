import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadMarks } from "./read-marks.ts";

const KIB = 1024;

test("a stretch is new once", () => {
  const marks = new ReadMarks();
  assert.equal(marks.mark(10_000 * KIB, 1), true);
  assert.equal(marks.mark(10_000 * KIB, 1), false);
  assert.equal(marks.mark(0, 100 * KIB), true);
  assert.equal(marks.mark(50 * KIB, 70 * KIB), false);
  assert.equal(marks.mark(10_000 * KIB, 1), false);
});

test("what lies only partly where somebody has read is new", () => {
  const marks = new ReadMarks();
  marks.mark(0, 1024 * KIB);
  assert.equal(marks.mark(1000 * KIB, 50 * KIB), true);
  assert.equal(marks.mark(0, 1050 * KIB), false);
  assert.equal(marks.mark(0, 8192 * KIB), true);
  assert.equal(marks.mark(0, 8192 * KIB), false);
});

test("reading on in steps of a mark or more is new at every step", () => {
  const marks = new ReadMarks();
  for (let at = 0; at < 20_000 * KIB; at += 300 * KIB) {
    assert.equal(marks.mark(at, 300 * KIB), true);
  }
});
