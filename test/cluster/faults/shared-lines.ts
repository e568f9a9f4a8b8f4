/** What REST requests write, before the lines. */
const HEAD_BYTES = 64;
const LINE_BYTES = 64;
/** Above 16 KiB, so that it goes to the object store. */
const LONG_LINE_BYTES = 20_000;
const LONG_EVERY = 32;
/** One fault of a file may show in each later read of it. */
const OBJECTIONS_MAX = 5;

/** A write of which nobody knows yet whether it takes effect. */
export interface Sent {
  readonly text: string;
  done(): void;
  /** It has not taken effect, and will not. */
  refused(): void;
}

/** What every later read must show. */
export interface Floor {
  readonly lines: number;
  readonly head: number;
}

/** What a file of lines with a head may contain, as its writers know. */
export class SharedLines {
  readonly #name: string;
  readonly #object: (what: string) => void;
  readonly #acknowledged: string[] = [];
  /** Without a known outcome, so far or for ever. */
  readonly #open = new Set<string>();
  readonly #openHeads = new Set<number>();
  readonly #doneHeads = new Set<number>();
  #head = -1;
  #heads = 0;
  #count = 0;
  #objections = 0;

  constructor(name: string, object: (what: string) => void) {
    this.#name = name;
    this.#object = (what) => {
      if (this.#objections++ < OBJECTIONS_MAX) object(what);
    };
  }

  /** How many lines were begun. */
  get count(): number {
    return this.#count;
  }

  nextLine(): Sent {
    const number = ++this.#count;
    const line = `${this.#name}-${number}`;
    this.#open.add(line);
    const bytes = number % LONG_EVERY === 0 ? LONG_LINE_BYTES : LINE_BYTES;
    return {
      text: `${line.padEnd(bytes - 1)}\n`,
      done: () => {
        this.#open.delete(line);
        this.#acknowledged.push(line);
      },
      refused: () => void this.#open.delete(line),
    };
  }

  /** A head with a higher number, for the only one who writes heads. */
  nextHead(): Sent {
    const head = this.#heads++;
    this.#openHeads.add(head);
    return {
      text: `${head}`.padEnd(HEAD_BYTES),
      done: () => {
        this.#openHeads.delete(head);
        this.#doneHeads.add(head);
        this.#head = head;
      },
      refused: () => void this.#openHeads.delete(head),
    };
  }

  floor(): Floor {
    return { lines: this.#acknowledged.length, head: this.#head };
  }

  /** Judges what a read shows that began after `floor`. */
  see(bytes: Buffer, floor: Floor, by: string): void {
    const head = Number(headIn(bytes));
    const isDone = this.#doneHeads.has(head) && head >= floor.head;
    if (!isDone && !this.#openHeads.has(head)) {
      this.#object(`${by} shows the head ${head}, acknowledged was ${floor.head}`);
    }
    const lines = `${bytes.subarray(HEAD_BYTES)}`.split("\n").map((line) => line.trimEnd());
    if (lines.pop() !== "") this.#object(`${by} shows a line without an end`);
    const seen = new Set(lines);
    if (seen.size < lines.length) this.#object(`${by} shows a line twice`);
    for (const line of this.#acknowledged.slice(0, floor.lines)) {
      if (!seen.has(line)) this.#object(`${by} does not show the acknowledged "${line}"`);
    }
    const known = new Set(this.#acknowledged);
    for (const line of seen) {
      if (!known.has(line) && !this.#open.has(line)) {
        this.#object(`${by} shows "${line.slice(0, 80)}", which nobody wrote`);
      }
    }
  }
}

export function headIn(bytes: Buffer): string {
  return `${bytes.subarray(0, HEAD_BYTES)}`;
}
