import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";

const BAR_CHARS = 30;
/** The progress between two lines, if the output is not a terminal. */
const LINE_PERCENT = 10;
/** The time between two lines of work whose size is unknown. */
const LINE_MS = 10_000;
/** A bar changes at most this often: writing to a terminal takes time. */
const BAR_MS = 100;
/** Before this time a rate says little about the rest. */
const RATE_SECONDS_MIN = 1;
const CLEAR_LINE = "\r\u001b[K";

/** How far long work is. */
export interface Progress {
  /** Records, blobs, files or the like. */
  readonly objects: number;
  readonly bytes: number;
}

export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface ProgressOptions {
  readonly clock: Clock;
  /** An estimate of the whole work; null if nobody knows. Zero bytes: the objects count alone. */
  readonly total: Progress | null;
  /** What is counted: `records`. */
  readonly noun: string;
  /** Writes lines of JSON, also to a terminal. */
  readonly json?: boolean;
}

/**
 * Shows the progress of long work with its rate and the time that remains: a bar on a terminal, a
 * line at every tenth elsewhere, or such lines as JSON.
 */
export class ProgressBar {
  readonly #to: ProgressOutput;
  readonly #options: ProgressOptions;
  readonly #isTerminal: boolean;
  readonly #startedMs: number;
  #total: Progress | null;
  #percent = -1;
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(to: ProgressOutput, options: ProgressOptions) {
    this.#to = to;
    this.#options = options;
    this.#isTerminal = to.isTTY === true && options.json !== true;
    this.#startedMs = options.clock.elapsedMs();
    this.#total = options.total;
  }

  /** Takes another estimate of the whole work, once it is known. */
  expect(total: Progress): void {
    this.#total = total;
  }

  show(done: Progress): void {
    const now = this.#options.clock.elapsedMs();
    const percent = percentOf(done, this.#total);
    if (!this.#isDue(percent, now)) return;
    this.#percent = percent ?? -1;
    this.#shownMs = now;
    const seconds = Math.max(now - this.#startedMs, 0) / 1000;
    const left = percent === null || percent === 0 ? null : (seconds * (100 - percent)) / percent;
    this.#to.write(this.#rendered(done, percent, seconds, left));
  }

  /** Clears the bar. */
  end(): void {
    if (this.#isTerminal) this.#to.write(CLEAR_LINE);
  }

  #isDue(percent: number | null, now: number): boolean {
    if (this.#isTerminal) return now - this.#shownMs >= BAR_MS;
    if (percent === null) return now - this.#shownMs >= LINE_MS;
    return this.#percent < 0 || percent >= this.#percent + LINE_PERCENT;
  }

  #rendered(done: Progress, percent: number | null, seconds: number, left: number | null): string {
    const { noun, json } = this.#options;
    if (json === true) {
      const remainingSeconds = left === null ? null : Math.round(left);
      return `${JSON.stringify({ progress: { percent, ...done, seconds, remainingSeconds } })}\n`;
    }
    const parts = [
      ...(percent === null ? [] : [`${percent} %`]),
      `${done.objects} ${noun}`,
      `${(done.bytes / MIB).toFixed(0)} MiB`,
      ...(seconds < RATE_SECONDS_MIN ? [] : [rateOf(done, seconds, noun)]),
      ...(left === null || seconds < RATE_SECONDS_MIN ? [] : [`${timeText(left)} left`]),
    ];
    const line = parts.join(", ");
    if (!this.#isTerminal) return `${line}\n`;
    return `${CLEAR_LINE}${percent === null ? "" : `${bar(percent)} `}${line}`;
  }
}

/** Stays below 100: the whole is an estimate, and work ends when it has ended. */
function percentOf({ objects, bytes }: Progress, total: Progress | null): number | null {
  if (total === null) return null;
  const share =
    total.bytes === 0 ? objects / Math.max(total.objects, 1) : bytes / Math.max(total.bytes, 1);
  return Math.min(Math.floor(100 * share), 99);
}

function rateOf({ objects, bytes }: Progress, seconds: number, noun: string): string {
  const mib = bytes / MIB / seconds;
  return mib >= 1 ? `${mib.toFixed(0)} MiB/s` : `${(objects / seconds).toFixed(0)} ${noun}/s`;
}

/** `45 s`, `3 min`, `2 h 5 min`. */
function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function bar(percent: number): string {
  const full = Math.round((percent / 100) * BAR_CHARS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CHARS - full)}]`;
}
