/** What has happened to a front end in a round: it was cut off or stopped, or its process ended. */
export type Trouble = "none" | "away" | "ended";

/**
 * A front end that cannot renew its lease closes its SMB connections after 25 s, and others end its
 * handles after 30 s. It does not renew it with each request, but 5 s before at most.
 */
export const KEPT_MS_MIN = 20_000;

export interface HoldsSetup {
  readonly nowMs: () => number;
  readonly object: (what: string) => void;
}

/** One client's open, or lock, that excludes all other use of a file. */
export class Hold {
  readonly sinceMs: number;
  readonly #setup: HoldsSetup;
  readonly #trouble: () => Trouble;
  /** When the last request was sent that succeeded by it. */
  #lastMs: number;
  #isOver = false;
  #taken: { readonly atMs: number; readonly by: string } | null = null;

  constructor(setup: HoldsSetup, trouble: () => Trouble, sentMs: number) {
    this.#setup = setup;
    this.#trouble = trouble;
    this.sinceMs = setup.nowMs();
    this.#lastMs = sentMs;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get lastMs(): number {
    return this.#lastMs;
  }

  /** A request by it, sent at this time, has succeeded. */
  succeeded(sentMs: number): void {
    if (this.#taken !== null && sentMs > this.#taken.atMs) {
      this.#setup.object(`${this.#taken.by} went through while another client's hold was good`);
    }
    this.#lastMs = Math.max(this.#lastMs, sentMs);
  }

  /** The client is about to give it up. */
  ending(): void {
    this.#isOver = true;
    if (this.#taken !== null) this.#judgeEnd(this.#taken.by);
  }

  /** The server does not know it any more. */
  lost(why: string): void {
    this.#isOver = true;
    this.#judgeEnd(this.#taken?.by ?? why);
  }

  /** Somebody else has used the file. */
  taken(by: string): void {
    this.#taken ??= { atMs: this.#setup.nowMs(), by };
  }

  #judgeEnd(why: string): void {
    if (this.#trouble() === "ended") return;
    const endedMs = this.#taken?.atMs ?? this.#setup.nowMs();
    const keptMs = Math.round(endedMs - this.#lastMs);
    if (keptMs >= KEPT_MS_MIN) return;
    this.#setup.object(`${why} ended a hold ${keptMs} ms after its last use`);
  }
}

/**
 * Who has a file to himself, as far as clients can know. A second client may get in only when the
 * hold of the first one has ended, and a hold ends early only with the lease of its front end.
 */
export class Holds {
  readonly #setup: HoldsSetup;
  #open: Hold[] = [];
  /** The last use of a hold that its client has lost. */
  #lostMs: number | null = null;
  #longestLostMs = 0;

  constructor(setup: HoldsSetup) {
    this.#setup = setup;
  }

  /** The longest time from the last use of a lost hold until somebody else could have the file. */
  get longestLostMs(): number {
    return this.#longestLostMs;
  }

  /** An exclusive open or lock, sent at this time, was granted just now. */
  begin(by: string, trouble: () => Trouble, sentMs: number): Hold {
    this.used(by, sentMs);
    if (this.#lostMs !== null) {
      this.#longestLostMs = Math.max(this.#longestLostMs, this.#setup.nowMs() - this.#lostMs);
      this.#lostMs = null;
    }
    const hold = new Hold(this.#setup, trouble, sentMs);
    this.#open.push(hold);
    return hold;
  }

  /** A request that every hold must refuse, sent at this time, has succeeded just now. */
  used(by: string, sentMs: number): void {
    this.#open = this.#open.filter(({ isOver }) => !isOver);
    for (const hold of this.#open) if (hold.sinceMs <= sentMs) hold.taken(by);
  }

  lost(hold: Hold, why: string): void {
    hold.lost(why);
    this.#lostMs = Math.max(this.#lostMs ?? 0, hold.lastMs);
  }
}
