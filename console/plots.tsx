import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { bytesText } from "../src/base/amount-text.ts";
import type { Figures } from "../src/front/console/console-facts.ts";
import { listen } from "./api.ts";
import { percentile, rates } from "./rates.ts";

/** Readings that are plotted: ten minutes, one a second. */
const READINGS_MAX = 600;
const HEIGHT_PX = 180;

/** Colours that differ in brightness, too; each is readable on light and dark. */
const COLOURS = ["#3b82f6", "#e08a00", "#16a34a", "#d946ef", "#0891b2", "#dc2626", "#7c6f00"];

/** Between marks of the time. */
const STEPS_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300];
/** The room that a time of day takes. */
const TIME_PX = 70;

interface Plot {
  readonly title: string;
  readonly unit: "count" | "bytes" | "ms";
  /** The lines of a plot, by name, from two readings that follow each other. */
  read(now: Figures, before: Figures): Readonly<Record<string, number>>;
}

const PLOTS: readonly Plot[] = [
  {
    title: "Requests per second",
    unit: "count",
    read: (now, before) =>
      rates(now, before, "lazuli_requests_total", (label) => label.split(",")[0]),
  },
  {
    title: "Time of requests",
    unit: "ms",
    read: (now, before) => ({
      "50 %": percentile(now, before, 0.5),
      "90 %": percentile(now, before, 0.9),
      "99 %": percentile(now, before, 0.99),
    }),
  },
  {
    title: "Conflicts per second, by kind",
    unit: "count",
    read: (now, before) =>
      rates(now, before, "lazuli_conflicts_total", (kind) => kind.replaceAll("_", " ")),
  },
  {
    title: "Errors per second, by status",
    unit: "count",
    read: (now, before) =>
      rates(now, before, "lazuli_requests_total", (label) => {
        const code = label.split(",")[1] ?? "";
        return /^[45]\d\d$/.test(code) ? code : undefined;
      }),
  },
  {
    title: "Bytes per second",
    unit: "bytes",
    read: (now, before) => ({
      in: rates(now, before, "lazuli_request_bytes_total", () => "in").in ?? 0,
      out: rates(now, before, "lazuli_response_bytes_total", () => "out").out ?? 0,
    }),
  },
  {
    title: "Connections",
    unit: "count",
    read: (now) => now.values.lazuli_connections ?? {},
  },
  {
    title: "Messages in queues",
    unit: "count",
    read: (now) => now.values.lazuli_queue_messages ?? {},
  },
  {
    title: "Space",
    unit: "bytes",
    read: ({ values }) => ({
      "bulk data": values.lazuli_extent_bytes?.live ?? 0,
      "to be reclaimed": values.lazuli_extent_bytes?.dead ?? 0,
      log: values.lazuli_wal_bytes?.[""] ?? 0,
      records: values.lazuli_database_bytes?.[""] ?? 0,
      "free in their file": values.lazuli_database_free_bytes?.[""] ?? 0,
    }),
  },
  {
    title: "Checkpoints",
    unit: "count",
    read: ({ values }) => ({
      "records that wait for the next": values.lazuli_memtable_records?.[""] ?? 0,
    }),
  },
];

export function PlotPage() {
  const [readings, setReadings] = useState<readonly Figures[]>([]);
  useEffect(
    () =>
      listen<Figures>("figures", (figures) =>
        setReadings((known) => [...known, figures].slice(-READINGS_MAX)),
      ),
    [],
  );
  return (
    <>
      <h1>Plots</h1>
      <p class="hint">
        The last ten minutes while this page is open. For longer times use{" "}
        <code>--metricsPort</code> with Prometheus.
      </p>
      <div class="plots">
        {PLOTS.map((plot) => (
          <PlotCard key={plot.title} plot={plot} readings={readings} />
        ))}
      </div>
    </>
  );
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Whether the system is dark now: a plot has its colours from when it was drawn. */
function useIsDark(): boolean {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const change = () => setDark(DARK.matches);
    DARK.addEventListener("change", change);
    return () => DARK.removeEventListener("change", change);
  }, []);
  return isDark;
}

function PlotCard({ plot, readings }: { plot: Plot; readings: readonly Figures[] }) {
  const box = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  const chart = useRef<{ plot: uPlot; drawnAs: string } | null>(null);
  useEffect(() => {
    const { lines, names, times } = linesOf(plot, readings);
    const element = box.current;
    if (element === null || times.length === 0) return;
    const data: uPlot.AlignedData = [times, ...lines];
    const drawnAs = `${isDark} ${names.join()}`;
    if (chart.current?.drawnAs !== drawnAs) {
      chart.current?.plot.destroy();
      chart.current = { plot: draw(element, plot, names, data), drawnAs };
    } else {
      chart.current.plot.setData(data);
    }
  }, [plot, readings, isDark]);
  useEffect(() => {
    const resize = () => {
      const width = box.current?.clientWidth ?? 0;
      chart.current?.plot.setSize({ width, height: HEIGHT_PX });
    };
    addEventListener("resize", resize);
    return () => {
      removeEventListener("resize", resize);
      chart.current?.plot.destroy();
      chart.current = null;
    };
  }, []);
  return (
    <section class="card" aria-label={plot.title} data-readings={Math.max(0, readings.length - 1)}>
      <h2>{plot.title}</h2>
      <div ref={box} />
      {readings.length < 2 ? <p class="hint">Waiting for the second reading…</p> : null}
    </section>
  );
}

function linesOf(plot: Plot, readings: readonly Figures[]) {
  const points = readings.slice(1).map((now, at) => plot.read(now, readings[at] as Figures));
  const names = [...new Set(points.flatMap((point) => Object.keys(point)))];
  return {
    names: names.length === 0 ? ["none"] : names,
    times: readings.slice(1).map(({ atMs }) => atMs / 1000),
    lines: (names.length === 0 ? ["none"] : names).map((name) =>
      points.map((point) => point[name] ?? 0),
    ),
  };
}

function draw(
  element: HTMLElement,
  { unit }: Plot,
  names: readonly string[],
  data: uPlot.AlignedData,
): uPlot {
  const styles = getComputedStyle(document.documentElement);
  const text = styles.getPropertyValue("--soft");
  const grid = { stroke: styles.getPropertyValue("--line"), width: 1 };
  const shown = (value: number | null) => (value === null ? "" : valueText(value, unit));
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT_PX,
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
      axes: [
        {
          stroke: text,
          grid,
          ticks: grid,
          incrs: STEPS_SECONDS,
          space: TIME_PX,
          values: (_, splits) => splits.map(clockText),
        },
        {
          stroke: text,
          grid,
          ticks: grid,
          size: 70,
          values: (_, splits) => splits.map((value) => valueText(value, unit)),
        },
      ],
      series: [
        { label: "Time", value: (_, at) => (at === null ? "" : clockText(at)) },
        ...names.map((name, at) => ({
          label: name,
          stroke: COLOURS[at % COLOURS.length] ?? "",
          width: 2,
          points: { show: false },
          value: (_: uPlot, value: number | null) => shown(value),
        })),
      ],
    },
    data,
    element,
  );
}

function clockText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

function valueText(value: number, unit: Plot["unit"]): string {
  if (unit === "bytes") return bytesText(Math.round(value));
  const text =
    value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
  return unit === "ms" ? `${text} ms` : text;
}
