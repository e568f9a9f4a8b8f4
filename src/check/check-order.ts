import { type DeadEnd, linearize, type Model } from "./linearize.ts";
import type { Operation } from "./operation.ts";

/** Far more than a correct history takes (about as many as it has writes). */
const STATES_MAX = 100_000;

/** An objection to a history. */
export interface Objection {
  readonly key: string;
  /** False if the check was undecided. */
  readonly isProved: boolean;
  readonly what: string;
}

/** Checks whether some order of the operations on one object explains every answer. */
export function checkOrder<State, Asked, Answer>(
  key: string,
  operations: readonly Operation<Asked, Answer>[],
  model: Model<State, Asked, Answer>,
): Objection[] {
  const verdict = linearize(model, operations, STATES_MAX);
  switch (verdict.kind) {
    case "explained":
      return [];
    case "undecided": {
      const what = `undecided after ${verdict.statesSeen} states: make the history shorter`;
      return [{ key, isProved: false, what }];
    }
    case "unexplained": {
      const what = describeDeadEnd(operations.length, verdict.dead);
      return [{ key, isProved: true, what }];
    }
  }
}

/** Checks that pairs are one to one: a name never stands for two things. */
export class OneToOne {
  readonly objections: Objection[] = [];
  readonly #key: string;
  readonly #known = new Map<string, string>();

  constructor(key: string) {
    this.#key = key;
  }

  learn(what: string, name: string, value: string): void {
    const before = this.#known.get(`${what} ${name}`) ?? value;
    this.#known.set(`${what} ${name}`, before);
    if (before === value) return;
    const objection = `${what} ${name} stands for ${before} and for ${value}`;
    this.objections.push({ key: this.#key, isProved: true, what: objection });
  }
}

/**
 * The times that the clock has shown since a tick, in rising order. Advances of the clock are
 * short: none begins before another has ended.
 */
export function timesIn(
  history: readonly Operation<{ readonly operation: string; readonly byMs?: number }, unknown>[],
  startMs: number,
): (tick: number) => readonly number[] {
  const shown = [{ from: 0, nowMs: startMs }];
  let nowMs = startMs;
  for (const { asked, returned } of history.toSorted((a, b) => a.invoked - b.invoked)) {
    if (asked.operation !== "advance") continue;
    nowMs += asked.byMs ?? 0;
    shown.push({ from: returned, nowMs });
  }
  return (tick) => {
    const at = shown.findLastIndex(({ from }) => from <= tick);
    return shown.slice(at).map((time) => time.nowMs);
  };
}

function describeDeadEnd<State, Asked, Answer>(
  operations: number,
  { explained, state, next }: DeadEnd<State, Asked, Answer>,
): string {
  const lines = next.map(
    ({ client, invoked, returned, asked, answer }) =>
      `  client ${client}, ${invoked} to ${returned}: ${JSON.stringify(asked)}` +
      ` was answered ${JSON.stringify(answer)}`,
  );
  return [
    `no order explains more than ${explained} of ${operations} operations. It ends at`,
    `  ${JSON.stringify(state)}, where none of these fits in a way that leads on:`,
    ...lines,
  ].join("\n");
}
