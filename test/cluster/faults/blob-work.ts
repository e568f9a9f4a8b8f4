import type { Clients } from "./clients.ts";
import { ask, askUntilDone, pause, type Round, type Work } from "./work.ts";

const LINE_BYTES = [64, 64, 64, 20_000];
const APPENDERS = 2;
const COUNTERS = 2;
/** In a place of its own: more than fits into a record. */
const COUNTER_BYTES = 20_000;

/**
 * Appends lines to a blob. Each acknowledged line must be there once, every other at most once, and
 * a refused one never: a commit whose answer was lost must not be repeated.
 */
export class Ledger implements Work {
  readonly #round: Round;
  readonly #acknowledged = new Set<string>();
  readonly #unknown = new Set<string>();
  #lines = 0;

  constructor(round: Round) {
    this.#round = round;
  }

  async prepare(): Promise<void> {
    const name = `ledger-${this.#round.name}`;
    await askUntilDone(
      this.#round,
      (to, abortSignal) => to.blobs.getContainerClient(name).create({ abortSignal }),
      true,
    );
    await askUntilDone(this.#round, (to, abortSignal) =>
      to.blobs.getContainerClient(name).getAppendBlobClient("lines").create({ abortSignal }),
    );
  }

  get workers() {
    return Array.from({ length: APPENDERS }, () => () => this.#append());
  }

  async check(): Promise<void> {
    const lines = await this.#read();
    const seen = new Set(lines);
    for (const line of seen) {
      if (!this.#acknowledged.has(line) && !this.#unknown.has(line)) {
        this.#round.object(`ledger: "${line}" is there, which was refused or never written`);
      }
    }
    if (seen.size !== lines.length) this.#round.object("ledger: a line is there twice");
    for (const line of this.#acknowledged) {
      if (!seen.has(line)) this.#round.object(`ledger: the acknowledged "${line}" is lost`);
    }
  }

  async #append(): Promise<void> {
    while (!this.#round.isOver) {
      const number = ++this.#lines;
      const line = `${this.#round.name}-${number}`;
      const bytes = LINE_BYTES[number % LINE_BYTES.length] as number;
      const text = `${line}${" ".repeat(bytes - line.length - 1)}\n`;
      const outcome = await ask(this.#round, (to, abortSignal) =>
        this.#blob(to).appendBlock(text, text.length, { abortSignal }),
      );
      if (outcome.kind === "done") this.#acknowledged.add(line);
      if (outcome.kind === "unknown") this.#unknown.add(line);
      // What one front end has acknowledged, every other one shows.
      if (outcome.kind === "done" && number % 8 === 0 && !(await this.#read()).includes(line)) {
        this.#round.object(`ledger: a read does not show the acknowledged "${line}"`);
      }
      await pause();
    }
  }

  #blob(to: Clients) {
    const container = to.blobs.getContainerClient(`ledger-${this.#round.name}`);
    return container.getAppendBlobClient("lines");
  }

  async #read(): Promise<string[]> {
    const bytes = await askUntilDone(this.#round, (to, abortSignal) =>
      this.#blob(to).downloadToBuffer(undefined, undefined, { abortSignal }),
    );
    const lines = `${bytes}`.split("\n").map((line) => line.trimEnd());
    return lines.filter((line) => line !== "");
  }
}

/**
 * Counts with If-Match. The final number must be that of acknowledged increments, and at most as
 * many more as have no known outcome. No read may show less than was acknowledged before it.
 */
export class Counter implements Work {
  readonly #round: Round;
  #acknowledged = 0;
  #unknown = 0;
  #highest = 0;

  constructor(round: Round) {
    this.#round = round;
  }

  async prepare(): Promise<void> {
    await askUntilDone(
      this.#round,
      (to, abortSignal) =>
        to.blobs.getContainerClient(`counter-${this.#round.name}`).create({ abortSignal }),
      true,
    );
    await askUntilDone(this.#round, (to, abortSignal) =>
      this.#blob(to).upload(text(0), COUNTER_BYTES, { abortSignal }),
    );
  }

  get workers() {
    return Array.from({ length: COUNTERS }, () => () => this.#increment());
  }

  async check(): Promise<void> {
    const { number } = await this.#read();
    const most = this.#acknowledged + this.#unknown;
    if (number < this.#acknowledged || number > most) {
      const bounds = `${this.#acknowledged} acknowledged, ${this.#unknown} unknown`;
      this.#round.object(`counter: it shows ${number}: ${bounds}`);
    }
  }

  async #increment(): Promise<void> {
    while (!this.#round.isOver) {
      const before = this.#highest;
      const { number, etag } = await this.#read();
      if (number < before) this.#round.object(`counter: a read shows ${number} after ${before}`);
      const conditions = { ifMatch: etag };
      const outcome = await ask(this.#round, (to, abortSignal) =>
        this.#blob(to).upload(text(number + 1), COUNTER_BYTES, { conditions, abortSignal }),
      );
      if (outcome.kind === "done") {
        this.#acknowledged++;
        this.#highest = Math.max(this.#highest, number + 1);
      } else if (outcome.kind === "unknown") this.#unknown++;
      else if (outcome.status !== 412) this.#round.object(`counter: ${outcome.status}`);
      await pause();
    }
  }

  async #read(): Promise<{ number: number; etag: string }> {
    const found = await askUntilDone(this.#round, async (to, abortSignal) => {
      const answer = await this.#blob(to).download(undefined, undefined, { abortSignal });
      const parts: Buffer[] = [];
      for await (const part of answer.readableStreamBody ?? []) parts.push(Buffer.from(part));
      return { number: Number(`${Buffer.concat(parts)}`), etag: answer.etag ?? "" };
    });
    return found ?? { number: Number.NaN, etag: "" };
  }

  #blob(to: Clients) {
    const container = to.blobs.getContainerClient(`counter-${this.#round.name}`);
    return container.getBlockBlobClient("number");
  }
}

function text(number: number): string {
  return `${number}`.padEnd(COUNTER_BYTES);
}
