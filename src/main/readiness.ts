import type { Schedule } from "../base/schedule.ts";

/** Something a server depends on that is not on its own machine. */
export interface Dependency {
  /** `the database`, for messages. */
  readonly name: string;
  /** Asks it for a small answer. Rejects with the reason if it cannot be reached. */
  reach(): Promise<unknown>;
}

/** The pause between two questions. */
export const PROBE_MS = 2_000;
/** An answer that takes more pauses than this counts as none: requests fail by then. */
export const PROBES_UNANSWERED_MAX = 3;

/** Asks regularly whether a server's dependencies can be reached, so that it can tell balancers. */
export class Readiness {
  readonly #probes: readonly Probe[];
  readonly #schedule: Schedule;
  #next: { cancel(): void } | null = null;

  constructor(dependencies: readonly Dependency[], schedule: Schedule) {
    this.#probes = dependencies.map((dependency) => new Probe(dependency));
    this.#schedule = schedule;
  }

  /** The dependencies that cannot be reached, and why; null if all can. */
  get outage(): string | null {
    const all = this.#probes.flatMap(({ outage }) => (outage === null ? [] : [outage]));
    return all.length === 0 ? null : all.join("; ");
  }

  start(): void {
    if (this.#probes.length === 0) return;
    this.#next = this.#schedule(() => {
      for (const probe of this.#probes) probe.ask();
      this.start();
    }, PROBE_MS);
  }

  stop(): void {
    this.#next?.cancel();
  }
}

class Probe {
  readonly #dependency: Dependency;
  #outage: string | null = null;
  /** How often an answer was due that has not come. */
  #unanswered = 0;

  constructor(dependency: Dependency) {
    this.#dependency = dependency;
  }

  get outage(): string | null {
    const { name } = this.#dependency;
    if (this.#unanswered > PROBES_UNANSWERED_MAX) return `${name} does not answer`;
    return this.#outage === null ? null : `${name}: ${this.#outage}`;
  }

  /** Asks once at a time: what does not answer would gather questions otherwise. */
  ask(): void {
    this.#unanswered++;
    if (this.#unanswered > 1) return;
    this.#dependency.reach().then(
      () => this.#answered(null),
      (error: Error) => this.#answered(error.message),
    );
  }

  #answered(outage: string | null): void {
    this.#unanswered = 0;
    this.#outage = outage;
  }
}
