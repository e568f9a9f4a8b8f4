import type { Reading } from "./reading.ts";

export const ROUNDS = 5;

interface Waiting {
  readonly pid: number | null;
  readonly go: () => void;
}

/**
 * Schedules compared measurements round-robin in short slots, so that other load on the machine
 * affects all alike. While one runs, the server processes of the others are stopped, so that their
 * deferred work happens in their own slots.
 */
export class RoundRobin {
  readonly #waiting: Waiting[] = [];
  #isTaken = false;

  /** Runs `body` alternating with others; `pid` is the server's, if it runs already. */
  async run<T>(pid: number | null, body: () => Promise<T>): Promise<T> {
    await this.#take(pid);
    try {
      return await body();
    } finally {
      this.#give();
    }
  }

  /**
   * Returns the median of several measurements; the others get a slot before each. `pid` is null if
   * each measurement starts and ends a server of its own. There are fewer, but at least one, if
   * `isTimeUp` says so before one begins.
   */
  async medianOf(
    pid: number | null,
    measure: (round: number, rounds: number) => Promise<Reading>,
    rounds = ROUNDS,
    isTimeUp: () => boolean = () => false,
  ): Promise<Reading> {
    const readings: Reading[] = [];
    for (let round = 0; round < rounds; round++) {
      await this.#pass(pid);
      if (round > 0 && isTimeUp()) break;
      readings.push(await measure(round, rounds));
    }
    return median(readings);
  }

  async #pass(pid: number | null): Promise<void> {
    const isStopped = pid !== null && this.#waiting.some((other) => other.pid !== pid);
    if (isStopped) process.kill(pid, "SIGSTOP");
    const slot = this.#take(pid);
    this.#give();
    await slot;
    if (isStopped) process.kill(pid, "SIGCONT");
  }

  async #take(pid: number | null): Promise<void> {
    if (this.#isTaken) await new Promise<void>((go) => this.#waiting.push({ pid, go }));
    this.#isTaken = true;
  }

  /** Passes the slot to the measurement that has waited longest, without a gap. */
  #give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next.go();
  }
}

/** Takes the median of each figure separately. */
function median(readings: readonly Reading[]): Reading {
  const cpuMicros = medianFigure(readings, (reading) => reading.cpuMicros);
  const p50Ms = medianFigure(readings, (reading) => reading.p50Ms);
  const p99Ms = medianFigure(readings, (reading) => reading.p99Ms);
  const generatorShare = medianFigure(readings, (reading) => reading.generatorShare);
  return {
    value: medianFigure(readings, (reading) => reading.value) ?? 0,
    ...(cpuMicros !== undefined && { cpuMicros }),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
    ...(generatorShare !== undefined && { generatorShare }),
  };
}

function medianFigure(
  readings: readonly Reading[],
  figureOf: (reading: Reading) => number | undefined,
): number | undefined {
  const figures = readings.map(figureOf).filter((figure) => figure !== undefined);
  return figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];
}
