import type { Clock, Instant } from "../../base/clock.ts";
import type { MeasuredUsage, UsageReport } from "../../front/console/console-facts.ts";
import type { UsageProgress } from "../../service/shared/usage-scan.ts";

/** Steps of about 1 ms that one call waits for. */
const STEPS_PER_CALL = 64;

type Work = AsyncGenerator<UsageProgress, MeasuredUsage>;

/**
 * Measures what takes space, a few steps with each call: the work goes on only while somebody asks
 * for its result. The last result is shown meanwhile.
 */
export class UsageReader {
  readonly #measure: () => Work;
  readonly #clock: Clock;
  #usage: MeasuredUsage | null = null;
  #atMs: Instant | null = null;
  #work: Work | null = null;
  #records = 0;
  #running: Promise<void> | null = null;

  constructor(measure: () => Work, clock: Clock) {
    this.#measure = measure;
    this.#clock = clock;
  }

  /** Calls that come together share the steps. */
  async read(again: boolean): Promise<UsageReport> {
    if (this.#work === null && (again || this.#atMs === null)) {
      this.#work = this.#measure();
      this.#records = 0;
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
    const progress = this.#work === null ? null : this.#records;
    return { usage: this.#usage, atMs: this.#atMs, progress };
  }

  /** Forgets everything: nobody is signed in. */
  clear(): void {
    this.#work = null;
    this.#usage = null;
    this.#atMs = null;
  }

  async #run(): Promise<void> {
    const work = this.#work;
    for (let step = 0; step < STEPS_PER_CALL && work !== null && this.#work === work; step++) {
      const { done, value } = await this.#step(work);
      if (this.#work !== work) return;
      if (done !== true) {
        this.#records = value.objects;
        continue;
      }
      this.#work = null;
      this.#usage = value;
      this.#atMs = this.#clock.now();
    }
  }

  async #step(work: Work) {
    try {
      return await work.next();
    } catch (error) {
      // The next call begins anew.
      if (this.#work === work) this.#work = null;
      throw error;
    }
  }
}
