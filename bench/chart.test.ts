import assert from "node:assert/strict";
import { test } from "node:test";
import { renderChart } from "./chart.ts";

const LINES = [
  { row: "Put Blob <4 KiB>", bar: "≥ 10 × Azurite", found: "20.7 × throughput" },
  { row: "Put Blob <4 KiB>", bar: "CPU ≤ 4 × floor", found: "2.16 × floor CPU" },
  { row: "Filter", bar: "≥ 10 × Azurite", found: "1,234 × throughput" },
  { row: "SMB get", bar: "≥ 0.7 × Samba", found: "0.6 × throughput" },
  { row: "SMB get", bar: "≥ 0.7 × Samba by CPU", found: "1.3 × by CPU" },
  { row: "Put Message", bar: "≥ 10 × Azurite", found: "nothing to compare with" },
];

test("the chart has one bar for each throughput ratio", () => {
  const svg = renderChart(LINES, "2026-11-17 & later");
  assert.equal(svg.match(/<rect class="(?:bar|missed)" x="300"/g)?.length, 3);
  assert.match(svg, />Put Blob &lt;4 KiB&gt;<\/text>/);
  assert.match(svg, />2026-11-17 &amp; later<\/text>/);
  assert.match(svg, />1234<\/text>/);
  assert.doesNotMatch(svg, /Put Message/);
});

test("a ratio below its bar is drawn as missed", () => {
  const svg = renderChart(LINES, "");
  assert.equal(svg.match(/<rect class="missed" x="300"/g)?.length, 1);
  assert.match(svg, /<rect class="missed" x="300" y="[\d.]+" width="200.0"/);
});

test("a bar ends at the end of the axis, however large the ratio", () => {
  const widths = [...renderChart(LINES, "").matchAll(/x="300" y="[\d.]+" width="([\d.]+)"/g)];
  assert.deepEqual(
    widths.map(([, width]) => width),
    ["265.6", "500.0", "200.0"],
  );
});

test("a chart without Samba has no panel for it", () => {
  assert.doesNotMatch(renderChart(LINES.slice(0, 2), ""), /SMB:/);
});
