import { MIB } from "../base/limits.ts";
import type { Progress } from "./verifier.ts";

const BAR_CHARS = 30;
/** The progress between two lines, if the output is not a terminal. */
const LINE_PERCENT = 10;
const CLEAR_LINE = "\r\u001b[K";

/** Shows the progress of long work: a bar on a terminal, else a few lines. */
export class ProgressLines {
  readonly #to: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly #bytes: number;
  #percent = -1;

  /** `bytes` is an estimate of the whole work. */
  constructor(to: { readonly isTTY?: boolean; write(text: string): unknown }, bytes: number) {
    this.#to = to;
    this.#bytes = bytes;
  }

  show({ records, bytes }: Progress): void {
    // Stays below 100: how much of the files is in use, or used twice, is unknown beforehand.
    const percent = Math.min(Math.floor((100 * bytes) / Math.max(this.#bytes, 1)), 99);
    if (percent <= this.#percent) return;
    const isTerminal = this.#to.isTTY === true;
    if (!isTerminal && percent < this.#percent + LINE_PERCENT) return;
    this.#percent = percent;
    const done = `${percent} %, ${records} records, ${(bytes / MIB).toFixed(0)} MiB`;
    this.#to.write(isTerminal ? `${CLEAR_LINE}${bar(percent)} ${done}` : `${done}\n`);
  }

  /** Clears the bar. */
  end(): void {
    if (this.#to.isTTY === true) this.#to.write(CLEAR_LINE);
  }
}

function bar(percent: number): string {
  const full = Math.round((percent / 100) * BAR_CHARS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CHARS - full)}]`;
}
