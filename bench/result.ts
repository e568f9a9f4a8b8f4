import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import type { Reading, Readings } from "./reading.ts";
import { type Row, rounded, type Verdict } from "./row.ts";
import { SERVER_NAMES } from "./server.ts";

export interface Measured {
  readonly row: Row;
  readonly readings: Readings;
}

export interface Setting {
  readonly date: string;
  readonly machine: string;
  readonly generator: string;
  readonly azurite: string;
  readonly samba: string;
  readonly secondsPerLoad: number;
}

/** `node` is the program that runs our server. */
export function describeMachine(node: string): string {
  const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
  const cores = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} × ${cores[0]?.model.trim()}, ${gib} GiB, Node ${version}`;
}

export function asJson(setting: Setting, measured: readonly Measured[]): string {
  const rows = measured.map(({ row, readings }) => ({
    name: row.name,
    unit: row.unit,
    readings,
    bars: verdictsOf({ row, readings }),
  }));
  return JSON.stringify({ ...setting, rows }, null, 2);
}

/** Formats Markdown: the result for each bar, their mean, then all measurements of each server. */
export function asTables(setting: Setting, measured: readonly Measured[]): string {
  const mean = asMean(measured);
  return [
    asSummary(setting, measured),
    ...(mean === null ? [] : ["", mean]),
    "",
    asReadings(measured),
  ].join("\n");
}

/** Formats the geometric mean of all rows that compare throughput with Azurite's. */
export function asMean(measured: readonly Measured[]): string | null {
  const ratios = measured.flatMap(({ row, readings: { lazuli, azurite } }) =>
    row.unit.endsWith("/s") && lazuli !== undefined && azurite !== undefined
      ? [lazuli.value / azurite.value]
      : [],
  );
  if (ratios.length === 0) return null;
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  return `Geometric mean (rows: ${ratios.length}): ${rounded(mean)} × Azurite's throughput.`;
}

/** Formats the table of the benchmark page: a line for each bar. */
export function asSummary(setting: Setting, measured: readonly Measured[]): string {
  const { date, machine, generator, azurite, samba, secondsPerLoad } = setting;
  return [
    `${date}; ${machine}; ${secondsPerLoad} s per load; generator: ${generator}; Azurite: ${azurite}; Samba: ${samba}`,
    "",
    table(
      ["row", "Lazuli", "CPU", "compared with", "its CPU", "bar", "found", "verdict"],
      measured.flatMap(barLines),
    ),
  ].join("\n");
}

function asReadings(measured: readonly Measured[]): string {
  return table(
    ["row", "server", "result", "server CPU per request", "p50", "p99", "generator", "note"],
    measured.flatMap(readingLines),
  );
}

function readingLines({ row, readings }: Measured): string[][] {
  return SERVER_NAMES.flatMap((server) => {
    const reading = readings[server];
    return reading === undefined ? [] : [[row.name, server, ...readingCells(row, reading)]];
  });
}

function readingCells(row: Row, reading: Reading): string[] {
  const { value, cpuMicros, p50Ms, p99Ms, generatorShare, inTheSmall, note } = reading;
  const small = inTheSmall === undefined ? "" : ` (small: ${rounded(inTheSmall)})`;
  const ms = (time: number | undefined) => (time === undefined ? "" : `${rounded(time)} ms`);
  return [
    `${rounded(value)} ${row.unit}${small}`,
    cpuMicros === undefined ? "" : `${rounded(cpuMicros)} µs`,
    ms(p50Ms),
    ms(p99Ms),
    generatorShare === undefined ? "" : `${Math.round(generatorShare * 100)} %`,
    note ?? "",
  ];
}

function barLines(measured: Measured): string[][] {
  const { row, readings } = measured;
  const { lazuli } = readings;
  const ours = lazuli === undefined ? ["", ""] : readingCells(row, lazuli).slice(0, 2);
  const cells = [...ours, ...otherCells(row, readings)];
  return verdictsOf(measured).map(({ bar, found, passed }, index) => [
    ...(index === 0 ? [row.name, ...cells] : ["", "", "", "", ""]),
    bar,
    found,
    passed === null ? "–" : passed ? "pass" : "FAIL",
  ]);
}

/**
 * Formats result and CPU of the server that a row is compared with; no row has two such servers.
 */
function otherCells(row: Row, { azurite, samba }: Readings): string[] {
  const other = azurite ?? samba;
  if (other === undefined) return ["", ""];
  const [result = "", cpu = ""] = readingCells(row, other);
  return [`${azurite === undefined ? "Samba" : "Azurite"}: ${result}`, cpu];
}

function verdictsOf({ row, readings }: Measured): ({ bar: string } & Verdict)[] {
  return row.bars.map((bar) => ({ bar: bar.text, ...bar.judge(readings) }));
}

function table(header: string[], lines: string[][]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const draw = (cells: string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`;
  const rule = draw(
    header.map(() => ""),
    "-",
  );
  return [draw(header, " "), rule, ...lines.map((line) => draw(line, " "))].join("\n");
}
