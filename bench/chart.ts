/** One comparison on the benchmark page: a row, the bar it must reach, and the result. */
export interface ChartLine {
  readonly row: string;
  /** "≥ 10 × Azurite". */
  readonly bar: string;
  /** "20.7 × throughput". */
  readonly found: string;
}

interface Comparison {
  readonly row: string;
  readonly ratio: number;
  readonly required: number;
}

interface Panel {
  readonly title: string;
  readonly comparisons: readonly Comparison[];
  readonly ticks: readonly number[];
  /** Returns the position of a ratio on the axis, from 0 to 1. */
  readonly place: (ratio: number) => number;
}

const WIDTH = 880;
const LABELS_WIDTH = 300;
const AXIS_WIDTH = 500;
const LINE_HEIGHT = 22;
const BAR_HEIGHT = 13;
const TITLE_HEIGHT = 56;
const GAP = 20;
/** Room for the caption above the panels, and for the legend. */
const TOP = 62;
/** Ratios against Azurite span two orders of magnitude, so their axis is logarithmic. */
const AZURITE_RATIO_MAX = 300;
const SAMBA_RATIO_MAX = 1.5;

/** The picture has its own background for both themes, so that it is legible on either. */
const STYLE = `
  .ground { fill: #ffffff } text { fill: #1f2328; font: 13px sans-serif }
  .title { font-weight: 600 } .small { font-size: 11px; fill: #59636e }
  .grid { stroke: #d1d9e0 } .bar { fill: #2463c9 } .missed { fill: #c0362c }
  .required { stroke: #1f2328; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #f0f6fc } .small { fill: #9198a1 }
    .grid { stroke: #3d444d } .bar { fill: #5b9bff } .missed { fill: #ff7b72 }
    .required { stroke: #f0f6fc }
  }`;

/** Draws the ratios to Azurite and to Samba as bars, each with a mark at its target. */
export function renderChart(lines: readonly ChartLine[], caption: string): string {
  const panels = [azuritePanel(lines), sambaPanel(lines)].filter(
    ({ comparisons }) => comparisons.length > 0,
  );
  const drawn: string[] = [];
  let top = TOP;
  for (const panel of panels) {
    drawn.push(...renderPanel(panel, top));
    top += panelHeight(panel) + GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" role="img">`,
    `<title>Lazuli's throughput compared with Azurite and Samba</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${top}" rx="8"/>`,
    `<text class="small" x="20" y="26">${escapeXml(caption)}</text>`,
    ...legend(46),
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
}

function azuritePanel(lines: readonly ChartLine[]): Panel {
  return {
    title: "Throughput of Lazuli ÷ throughput of Azurite (logarithmic scale)",
    comparisons: comparisonsWith("Azurite", lines),
    ticks: [1, 3, 10, 30, 100, 300],
    place: (ratio) => Math.log(ratio) / Math.log(AZURITE_RATIO_MAX),
  };
}

function sambaPanel(lines: readonly ChartLine[]): Panel {
  return {
    title: "SMB: throughput of Lazuli ÷ throughput of Samba",
    comparisons: comparisonsWith("Samba", lines),
    ticks: [0, 0.5, 1, 1.5],
    place: (ratio) => ratio / SAMBA_RATIO_MAX,
  };
}

function comparisonsWith(server: string, lines: readonly ChartLine[]): Comparison[] {
  const pattern = new RegExp(`^≥ (?<required>[\\d.]+) × ${server}$`);
  return lines.flatMap(({ row, bar, found }) => {
    const required = pattern.exec(bar)?.groups?.required;
    const ratio = Number.parseFloat(found.replaceAll(",", ""));
    if (required === undefined || Number.isNaN(ratio)) return [];
    return [{ row, ratio, required: Number(required) }];
  });
}

function panelHeight({ comparisons }: Panel): number {
  return TITLE_HEIGHT + comparisons.length * LINE_HEIGHT;
}

function renderPanel(panel: Panel, top: number): string[] {
  const { title, comparisons, ticks } = panel;
  const linesTop = top + TITLE_HEIGHT - 10;
  const bottom = linesTop + comparisons.length * LINE_HEIGHT;
  const at = (ratio: number) =>
    LABELS_WIDTH + AXIS_WIDTH * Math.min(1, Math.max(0, panel.place(ratio)));
  return [
    `<text class="title" x="20" y="${top + 16}">${escapeXml(title)}</text>`,
    ...ticks.flatMap((tick) => {
      const x = fixed(at(tick));
      return [
        `<line class="grid" x1="${x}" y1="${linesTop - 2}" x2="${x}" y2="${bottom}"/>`,
        `<text class="small" x="${x}" y="${linesTop - 8}" text-anchor="middle">${tick}</text>`,
      ];
    }),
    ...comparisons.flatMap((one, index) => renderBar(one, linesTop + index * LINE_HEIGHT, at)),
  ];
}

function renderBar(one: Comparison, top: number, at: (ratio: number) => number): string[] {
  const { row, ratio, required } = one;
  const kind = ratio >= required ? "bar" : "missed";
  const end = at(ratio);
  const width = fixed(end - LABELS_WIDTH);
  const middle = top + LINE_HEIGHT / 2;
  const y = middle - BAR_HEIGHT / 2;
  const mark = fixed(at(required));
  const text = middle + 4.5;
  // The number follows the bar or the mark, whichever is longer.
  const number = fixed(Math.max(end, at(required)) + 6);
  return [
    `<text x="${LABELS_WIDTH - 8}" y="${text}" text-anchor="end">${escapeXml(row)}</text>`,
    `<rect class="${kind}" x="${LABELS_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}"/>`,
    `<line class="required" x1="${mark}" y1="${y - 3}" x2="${mark}" y2="${y + BAR_HEIGHT + 3}"/>`,
    `<text x="${number}" y="${text}">${ratio}</text>`,
  ];
}

function legend(y: number): string[] {
  const text = (x: number, words: string) =>
    `<text class="small" x="${x}" y="${y + 4}">${words}</text>`;
  return [
    `<rect class="bar" x="20" y="${y - 6}" width="18" height="12"/>`,
    text(44, "measured"),
    `<rect class="missed" x="120" y="${y - 6}" width="18" height="12"/>`,
    text(144, "measured, bar missed"),
    `<line class="required" x1="280" y1="${y - 8}" x2="280" y2="${y + 8}"/>`,
    text(290, "required (the bar)"),
  ];
}

function fixed(x: number): string {
  return x.toFixed(1);
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
