import assert from "node:assert/strict";
import { test } from "node:test";
import { atOnce } from "../../base/fair-queue.ts";
import { Histogram } from "../../base/histogram.ts";
import { formatFor, OPEN_METRICS, PROMETHEUS_TEXT, render } from "./exposition.ts";
import { labelled, type Metric, single } from "./metric.ts";

function textOf(metrics: readonly Metric[], format = PROMETHEUS_TEXT): string {
  return atOnce(render(metrics, format));
}

function sizes(...values: number[]): Metric {
  const histogram = new Histogram([0.5, 1, 10]);
  for (const value of values) histogram.observe(value);
  return {
    type: "histogram",
    name: "sizes",
    help: "Sizes.",
    labels: ["kind"],
    read: () => [[["a"], histogram]],
  };
}

test("counters, gauges and histograms are written as Prometheus reads them", () => {
  const metrics = [
    single("counter", "things_total", "Things.", () => 3),
    labelled("gauge", "heat", "Heat.", "place", () => [
      ["here", 1.5],
      ["there", Number.POSITIVE_INFINITY],
    ]),
    sizes(0.25, 1, 7, 100),
  ];
  assert.equal(
    textOf(metrics),
    [
      "# HELP things_total Things.",
      "# TYPE things_total counter",
      "things_total 3",
      "# HELP heat Heat.",
      "# TYPE heat gauge",
      'heat{place="here"} 1.5',
      'heat{place="there"} +Inf',
      "# HELP sizes Sizes.",
      "# TYPE sizes histogram",
      'sizes_bucket{kind="a",le="0.5"} 1',
      'sizes_bucket{kind="a",le="1.0"} 2',
      'sizes_bucket{kind="a",le="10.0"} 3',
      'sizes_bucket{kind="a",le="+Inf"} 4',
      'sizes_sum{kind="a"} 108.25',
      'sizes_count{kind="a"} 4',
      "",
    ].join("\n"),
  );
});

test("OpenMetrics names the family of a counter without its suffix, and ends with EOF", () => {
  const text = textOf([single("counter", "things_total", "Things.", () => 3)], OPEN_METRICS);
  assert.equal(text, "# HELP things Things.\n# TYPE things counter\nthings_total 3\n# EOF\n");
});

test("a label value cannot end its line or its quotes", () => {
  const odd = 'a"} 1\nforged{x="\\';
  const text = textOf([labelled("gauge", "g", "G\nH\\", "label", () => [[odd, 1]])]);
  assert.equal(
    text,
    '# HELP g G\\nH\\\\\n# TYPE g gauge\ng{label="a\\"} 1\\nforged{x=\\"\\\\"} 1\n',
  );
});

test("what cannot be measured yet has no sample", () => {
  const text = textOf([single("gauge", "g", "G.", () => undefined)]);
  assert.equal(text, "# HELP g G.\n# TYPE g gauge\n");
});

test("OpenMetrics is for clients that ask for a version that is known", () => {
  const prometheus =
    "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  for (const [accept, format] of [
    ["", PROMETHEUS_TEXT],
    ["*/*", PROMETHEUS_TEXT],
    ["text/plain", PROMETHEUS_TEXT],
    [prometheus, OPEN_METRICS],
    ["Application/OpenMetrics-Text; version=0.0.1", OPEN_METRICS],
    ["application/openmetrics-text", OPEN_METRICS],
    ["application/openmetrics-text;version=7.0.0", PROMETHEUS_TEXT],
    ["application/openmetrics-text;q=0", PROMETHEUS_TEXT],
    ["application/openmetrics-textual", PROMETHEUS_TEXT],
  ] as const) {
    assert.equal(formatFor(accept), format, accept);
  }
});
