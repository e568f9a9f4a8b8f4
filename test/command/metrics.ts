import assert from "node:assert/strict";

/** Labels by name, as a test asks for them: those that are not named may have any value. */
export type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** One scrape: all series, read as Prometheus reads them. */
export class Scrape {
  readonly text: string;
  readonly #series: readonly Series[];

  constructor(text: string) {
    this.text = text;
    this.#series = text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map(seriesOf);
  }

  static async at(origin: string): Promise<Scrape> {
    const answer = await fetch(`${origin}/metrics`);
    assert.equal(answer.status, 200);
    return new Scrape(await answer.text());
  }

  /** The names of all metrics, each once; a histogram has one. */
  get names(): string[] {
    return [...this.text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
  }

  /** The sum of all series with this name and these labels; 0 if there is none. */
  sum(name: string, labels: Labels = {}): number {
    return this.#found(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** The value of the only series with this name and these labels. */
  value(name: string, labels: Labels = {}): number {
    const found = this.#found(name, labels);
    assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)}: ${found.length} series`);
    return (found[0] as Series).value;
  }

  /** The values that a label has. */
  valuesOf(label: string): Set<string> {
    return new Set(this.#series.flatMap(({ labels }) => labels[label] ?? []));
  }

  #found(name: string, labels: Labels): readonly Series[] {
    return this.#series.filter(
      (series) =>
        series.name === name &&
        Object.entries(labels).every(([label, value]) => series.labels[label] === value),
    );
  }
}

const LINE = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/;
const PAIR = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

function seriesOf(line: string): Series {
  const found = LINE.exec(line);
  assert.ok(found !== null, line);
  const [, name = "", pairs = "", value = ""] = found;
  const labels = Object.fromEntries([...pairs.matchAll(PAIR)].map(([, key, text]) => [key, text]));
  return { name, labels, value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value) };
}
