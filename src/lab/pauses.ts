import type { Schedule } from "../base/schedule.ts";
import type { ActiveRule } from "./active-rules.ts";

interface Pause {
  readonly active: ActiveRule;
  end(): void;
}

/** The waits of requests that rules delay, or whose bodies they slow down. */
export class Pauses {
  readonly #schedule: Schedule;
  readonly #running = new Set<Pause>();
  #isClosed = false;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** Resolves after this time, and at once if the rule is removed or the server stops. */
  async wait(active: ActiveRule, ms: number): Promise<void> {
    if (this.#isClosed || active.isRemoved) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        timer.cancel();
        this.#running.delete(pause);
        resolve();
      };
      const pause = { active, end };
      const timer = this.#schedule(end, ms);
      this.#running.add(pause);
    });
  }

  /** Ends the waits of rules that are removed. */
  endRemoved(): void {
    for (const { active, end } of this.#running) if (active.isRemoved) end();
  }

  /** Ends all waits; later ones end at once. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of this.#running) end();
  }
}
