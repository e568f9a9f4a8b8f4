import type { Reading } from "./row.ts";

const ROUNDS = 5;

interface Waiting {
  readonly pid: number | null;
  readonly go: () => void;
}

/**
 * Those that are compared take turns, a short while each: what else the machine does meets all of
 * them alike. While one has its turn the processes of the others are stopped, so that what they put
 * off is done in their own time.
 */
export class Turns {
  readonly #line: Waiting[] = [];
  #isTaken = false;

  /** Runs `body` in turn with others; `pid` is the server's, if it runs already. */
  async run<T>(pid: number | null, body: () => Promise<T>): Promise<T> {
    await this.#take(pid);
    try {
      return await body();
    } finally {
      this.#give();
    }
  }

  /** The middle of several measurements; before each of them the others have their turn. */
  async middleOf(
    pid: number,
    measure: (round: number, rounds: number) => Promise<Reading>,
    rounds = ROUNDS,
  ): Promise<Reading> {
    const readings: Reading[] = [];
    for (let round = 0; round < rounds; round++) {
      await this.#pass(pid);
      readings.push(await measure(round, rounds));
    }
    return middle(readings);
  }

  async #pass(pid: number): Promise<void> {
    if (this.#line.some((other) => other.pid !== pid)) process.kill(pid, "SIGSTOP");
    const turn = this.#take(pid);
    this.#give();
    await turn;
    process.kill(pid, "SIGCONT");
  }

  async #take(pid: number | null): Promise<void> {
    if (this.#isTaken) await new Promise<void>((go) => this.#line.push({ pid, go }));
    this.#isTaken = true;
  }

  /** The turn goes to the one that has waited longest, without a gap. */
  #give(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#isTaken = false;
    else next.go();
  }
}

/** Each figure's own middle. */
function middle(readings: readonly Reading[]): Reading {
  const cpuMicros = middleFigure(readings, (reading) => reading.cpuMicros);
  const p50Ms = middleFigure(readings, (reading) => reading.p50Ms);
  const p99Ms = middleFigure(readings, (reading) => reading.p99Ms);
  const generatorShare = middleFigure(readings, (reading) => reading.generatorShare);
  return {
    value: middleFigure(readings, (reading) => reading.value) ?? 0,
    ...(cpuMicros !== undefined && { cpuMicros }),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
    ...(generatorShare !== undefined && { generatorShare }),
  };
}

function middleFigure(
  readings: readonly Reading[],
  figureOf: (reading: Reading) => number | undefined,
): number | undefined {
  const figures = readings.map(figureOf).filter((figure) => figure !== undefined);
  return figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];
}
