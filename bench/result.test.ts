import assert from "node:assert/strict";
import { test } from "node:test";
import { asMean, type Measured } from "./result.ts";
import type { Row } from "./row.ts";

test("the mean counts the rows that compare throughput with Azurite's", () => {
  const measured = [
    compared("req/s", 16, 1),
    compared("MiB/s", 4, 4),
    compared("ms", 1, 100),
    { row: rowOf("req/s"), readings: { lazuli: { value: 7 } } },
  ];
  assert.equal(asMean(measured), "Geometric mean (rows: 2): 4 × Azurite's throughput.");
});

test("there is no mean without Azurite", () => {
  assert.equal(asMean([{ row: rowOf("req/s"), readings: { lazuli: { value: 7 } } }]), null);
});

function compared(unit: Row["unit"], lazuli: number, azurite: number): Measured {
  const readings = { lazuli: { value: lazuli }, azurite: { value: azurite } };
  return { row: rowOf(unit), readings };
}

function rowOf(unit: Row["unit"]): Row {
  const measure = () => Promise.reject(new Error("It is not measured here."));
  return { name: "a row", unit, servers: ["lazuli", "azurite"], bars: [], measure };
}
