import { MIB } from "../base/limits.ts";
import type { Schedule } from "../base/schedule.ts";
import type { Contents } from "../store/contents.ts";
import type { Store } from "../store/store.ts";
import { Verifier } from "./verifier.ts";

/** The pause between two rounds. */
const ROUND_PAUSE_MS = 24 * 3_600_000;
/** The pause of a front end that does not lead, until it looks again whether it does. */
const LOOK_PAUSE_MS = 60_000;
/** Shorter pauses are combined. */
const PAUSE_MS_MIN = 100;

export interface ScrubSetup {
  readonly store: Store;
  readonly contents: Contents;
  readonly schedule: Schedule;
  readonly mibPerSecond: number;
  /** Whether this process reads the data. Of several front ends, one does. */
  readonly isOurs: () => boolean;
  /** Reports each damaged object, and the end of each round. */
  readonly tell: (line: string) => void;
  readonly onError: (error: unknown) => void;
}

/** Reads all data in endless rounds, at a limited speed, and reports damage. */
export class Scrub {
  readonly #setup: ScrubSetup;
  #wake: () => void = () => {};
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(setup: ScrubSetup) {
    this.#setup = setup;
  }

  start(): void {
    this.#running = this.#runOnAndOn();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#running;
  }

  async #runOnAndOn(): Promise<void> {
    while (!this.#isStopped) {
      if (!this.#setup.isOurs()) {
        await this.#pause(LOOK_PAUSE_MS);
        continue;
      }
      let isEnded = true;
      try {
        isEnded = await this.#round();
      } catch (error) {
        if (!this.#isStopped) this.#setup.onError(error);
      }
      await this.#pause(isEnded ? ROUND_PAUSE_MS : LOOK_PAUSE_MS);
    }
  }

  /** False if it was interrupted, because this process does not read the data at the moment. */
  async #round(): Promise<boolean> {
    const { mibPerSecond, tell } = this.#setup;
    let damaged = 0;
    const verifier = new Verifier(this.#setup, (name, reason) => {
      damaged++;
      tell(`damaged: ${name}: ${reason}`);
    });
    let paidBytes = 0;
    let done = { objects: 0, bytes: 0 };
    for await (done of verifier.run()) {
      if (this.#isStopped || !this.#setup.isOurs()) return false;
      const owedMs = ((done.bytes - paidBytes) / (mibPerSecond * MIB)) * 1_000;
      if (owedMs < PAUSE_MS_MIN) continue;
      paidBytes = done.bytes;
      await this.#pause(owedMs);
      if (this.#isStopped) return false;
    }
    const what = `${done.objects} records, ${(done.bytes / MIB).toFixed(1)} MiB`;
    tell(`scrub: ${what} read, ${damaged} objects with damaged bytes`);
    return true;
  }

  #pause(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#setup.schedule(resolve, ms);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
