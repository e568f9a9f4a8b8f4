import { cpus, totalmem } from "node:os";
import { cpuRatio, type Reading, type Readings, type Row, rounded, type Verdict } from "./row.ts";
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

export function describeMachine(): string {
  const cores = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} × ${cores[0]?.model.trim()}, ${gib} GiB, Node ${process.versions.node}`;
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

/** Formats two Markdown tables: the results of each server, and whether they meet the bars. */
export function asTables(setting: Setting, measured: readonly Measured[]): string {
  const { date, machine, generator, azurite, samba, secondsPerLoad } = setting;
  return [
    `${date}; ${machine}; ${secondsPerLoad} s per load; generator: ${generator}; Azurite: ${azurite}; Samba: ${samba}`,
    "",
    table(
      ["row", "server", "result", "server CPU per request", "p50", "p99", "generator", "note"],
      measured.flatMap(readingLines),
    ),
    "",
    table(
      ["row", "× Azurite", "CPU of Azurite ÷ ours", "CPU × floor", "bar", "found", "verdict"],
      measured.flatMap(barLines),
    ),
  ].join("\n");
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
  const { lazuli, floor, azurite } = measured.readings;
  const speed = lazuli && azurite ? lazuli.value / azurite.value : null;
  const ratios = [speed, cpuRatio(azurite, lazuli), cpuRatio(lazuli, floor)];
  const cells = ratios.map((ratio) => (ratio === null ? "" : rounded(ratio)));
  return verdictsOf(measured).map(({ bar, found, passed }, index) => [
    ...(index === 0 ? [measured.row.name, ...cells] : ["", "", "", ""]),
    bar,
    found,
    passed === null ? "–" : passed ? "pass" : "FAIL",
  ]);
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
