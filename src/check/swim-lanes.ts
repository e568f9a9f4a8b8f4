import { describeOperation, type ObjectVerdict } from "./check-history.ts";
import type { HistoryOperation } from "./history-file.ts";

const NAME_WIDTH = 130;
const TICK_WIDTH = 80;
const ROW_HEIGHT = 34;
const LANE_GAP = 12;
const BAR_HEIGHT = 28;
const TOP = 48;
const WIDTH_MIN = 640;
/** Of a letter, about. */
const LETTER_WIDTH = 7.2;

const STYLE = `
    text { font: 12px system-ui, sans-serif; fill: #1f2328; }
    .title { font-size: 15px; font-weight: 600; }
    .lane { stroke: #d0d7de; }
    .bar { stroke-width: 1.5; }
    .won { fill: #b7e4c7; stroke: #1a7f37; }
    .read { fill: #cfe4ff; stroke: #0969da; }
    .lost { fill: #ffd4cf; stroke: #cf222e; }
    .open { fill: #eaeef2; stroke: #57606a; stroke-dasharray: 4 3; }
    .order { font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; }
      text { fill: #e6edf3; }
      .lane { stroke: #30363d; }
      .won { fill: #12361f; stroke: #3fb950; }
      .read { fill: #0c2d54; stroke: #58a6ff; }
      .lost { fill: #4b1113; stroke: #f85149; }
      .open { fill: #21262d; stroke: #8b949e; }
    }
  `;

/**
 * Draws what clients did as an SVG image: a lane for each client, a bar from each request to its
 * answer, and the place of each in the order that the checker found.
 */
export function drawSwimLanes(
  title: string,
  operations: readonly HistoryOperation[],
  verdicts: readonly ObjectVerdict[],
): string {
  const lanes = lanesIn(operations);
  const place = placesIn(operations);
  const ticks = Math.max(1, ...place.values()) + 1;
  const width = Math.max(WIDTH_MIN, NAME_WIDTH + ticks * TICK_WIDTH + 20);
  const foot = TOP + lanes.reduce((sum, { rows }) => sum + heightOf(rows), 0) + 26;
  const orders = new Map<HistoryOperation, number>();
  for (const { order } of verdicts) {
    for (const [at, one] of order.entries()) orders.set(one, at + 1);
  }
  const xOf = (tick: number | null) =>
    tick === null ? width - 20 : NAME_WIDTH + (place.get(tick) ?? 0) * TICK_WIDTH;
  let top = TOP;
  const drawn = lanes.map(({ client, rows }) => {
    const y = top;
    top += heightOf(rows);
    const middle = y + heightOf(rows) / 2;
    const line = `<line class="lane" x1="${NAME_WIDTH}" x2="${width - 12}" y1="${middle}" y2="${middle}"/>`;
    const bars = rows.flatMap((row, at) =>
      row.map((one) => {
        const [from, to] = [xOf(one.invoked), xOf(one.returned)];
        return bar(one, orders.get(one) ?? null, from, to, y + LANE_GAP / 2 + at * ROW_HEIGHT);
      }),
    );
    return `  <text x="12" y="${middle + 4}">${escaped(client)}</text>\n  ${line}\n${bars.join("")}`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${foot + 48}" width="${width}" ` +
    `height="${foot + 48}" role="img" aria-label="${escaped(title)}">\n  <style>${STYLE}</style>\n` +
    `  <text class="title" x="12" y="26">${escaped(title)}</text>\n${drawn.join("")}${legend(foot)}` +
    `  <text x="12" y="${foot + 34}">${escaped(sentence(verdicts))}</text>\n</svg>\n`
  );
}

/** The requests of a client, in as many rows as it has requests at the same time. */
interface Lane {
  readonly client: string;
  readonly rows: HistoryOperation[][];
}

function lanesIn(operations: readonly HistoryOperation[]): Lane[] {
  const lanes = new Map<string, HistoryOperation[][]>();
  for (const one of operations.toSorted((a, b) => a.invoked - b.invoked)) {
    const rows = lanes.get(one.client) ?? [];
    lanes.set(one.client, rows);
    const isFree = (row: readonly HistoryOperation[]) =>
      (row.at(-1)?.returned ?? Number.POSITIVE_INFINITY) < one.invoked;
    const row = rows.find(isFree);
    if (row === undefined) rows.push([one]);
    else row.push(one);
  }
  const sorted = [...lanes].sort(([one], [other]) => byNumber(one, other));
  return sorted.map(([client, rows]) => ({ client, rows }));
}

function heightOf(rows: readonly unknown[]): number {
  return rows.length * ROW_HEIGHT + LANE_GAP;
}

/** Ticks become neighbours, however far apart they are. */
function placesIn(operations: readonly HistoryOperation[]): Map<number, number> {
  const ticks = operations.flatMap(({ invoked, returned }) =>
    returned === null ? [invoked] : [invoked, returned],
  );
  const sorted = [...new Set(ticks)].sort((a, b) => a - b);
  return new Map(sorted.map((tick, at) => [tick, at]));
}

function bar(
  one: HistoryOperation,
  order: number | null,
  x: number,
  end: number,
  y: number,
): string {
  const width = Math.max(end - x - 4, 12);
  const number = order === null ? "" : `${order}`;
  const verb = `${number} ${one.verb}`.trim();
  const outcome = outcomeOf(one);
  const short = outcome === "lost" ? `${number} ${one.status}` : verb;
  const texts = [`${verb} ${one.status ?? ""}`.trim(), short, number];
  const shown = texts.find((text) => text.length * LETTER_WIDTH <= width - 10) ?? "";
  const label = escaped(`${one.client}: ${describeOperation(one)}`);
  return (
    `  <g><title>${label}</title><rect class="bar ${outcome}" x="${x}" y="${y}" width="${width}" ` +
    `height="${BAR_HEIGHT}" rx="5"/><text class="order" x="${x + 6}" y="${y + 18}">${escaped(shown)}</text></g>\n`
  );
}

function outcomeOf({ status, verb }: HistoryOperation): "won" | "read" | "lost" | "open" {
  if (status === null || status >= 500) return "open";
  if (status >= 300) return "lost";
  return verb === "get" || verb === "peek" ? "read" : "won";
}

function legend(y: number): string {
  const kinds = [
    ["won", "done"],
    ["lost", "refused"],
    ["read", "read"],
    ["open", "outcome unknown"],
  ];
  return kinds
    .map(([kind, text], at) => {
      const x = 12 + at * 110;
      return (
        `  <rect class="bar ${kind}" x="${x}" y="${y - 11}" width="14" height="14" rx="3"/>` +
        `<text x="${x + 20}" y="${y}">${text}</text>\n`
      );
    })
    .join("");
}

function sentence(verdicts: readonly ObjectVerdict[]): string {
  const wrong = verdicts.filter(({ verdict }) => verdict !== "explained");
  if (wrong.length === 0) return "Numbers: an order, one at a time, that explains every answer.";
  return `No order was found that explains every answer about ${wrong.map(({ object }) => object).join(", ")}.`;
}

function byNumber(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
