import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChartLine, renderChart } from "./chart.ts";
import { ROOT } from "./server.ts";

const PAGE = join(ROOT, "docs", "reference", "benchmarks.md");
const PICTURE = join(ROOT, "docs", "reference", "benchmarks.svg");

/** The lines of the page that enclose the result. */
const BEGIN = "<!-- result -->";
const END = "<!-- end of result -->";

/** Replaces the result on the benchmark page, and draws its picture. */
export function writePage(result: string): void {
  writeFileSync(PAGE, withResult(readFileSync(PAGE, "utf8"), result));
  drawPicture();
}

/** Draws the picture from the table that the page shows. */
export function drawPicture(): void {
  const result = resultIn(readFileSync(PAGE, "utf8"));
  writeFileSync(PICTURE, renderChart(chartLines(result), result.split("\n")[0] ?? ""));
}

export function withResult(page: string, result: string): string {
  return page.replace(resultIn(page), () => result);
}

function resultIn(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no place for the result.`);
  return page.slice(begin + BEGIN.length, end).trim();
}

/**
 * Parses the lines of the table that `asSummary` prints. A line without a name belongs to the row
 * above.
 */
export function chartLines(result: string): ChartLine[] {
  const cells = result
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  let row = "";
  return cells.map(([, name = "", , , , , bar = "", found = ""]) => {
    row = name === "" ? row : name;
    return { row, bar, found };
  });
}
