import assert from "node:assert/strict";
import { test } from "node:test";
import { chartLines, withResult } from "./page.ts";

test("a result replaces the one on the page, and nothing else", () => {
  const page = "before\n<!-- result -->\n\nold\n\n<!-- end of result -->\nafter\n";
  const changed = withResult(page, "new $& result");
  assert.equal(
    changed,
    "before\n<!-- result -->\n\nnew $& result\n\n<!-- end of result -->\nafter\n",
  );
});

test("a line of the table without a name belongs to the row above", () => {
  const table = [
    "2026-11-17; a machine",
    "",
    "| row | Lazuli | CPU | other | its CPU | bar | found | verdict |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    "| Get | 5 req/s | 1 µs | Azurite: 1 req/s | 9 µs | ≥ 2 × Azurite | 5 × throughput | pass |",
    "| | | | | | CPU ≤ 4 × floor | 2 × floor CPU | pass |",
  ].join("\n");
  assert.deepEqual(chartLines(table).slice(2), [
    { row: "Get", bar: "≥ 2 × Azurite", found: "5 × throughput" },
    { row: "Get", bar: "CPU ≤ 4 × floor", found: "2 × floor CPU" },
  ]);
});
