/** What has happened to a front end in a round: it was cut off or stopped, or its process ended. */
export type Trouble = "none" | "away" | "ended";

/**
 * A front end that has not renewed its lease for 25 s closes its SMB connections. It renews it every
 * 5 s, and tries again every second, so that clients see a shorter outage; on a busy machine shorter still.
 */
export const OUTAGE_MS_MIN = 12_000;

export interface HoldsSetup {
  readonly nowMs: () => number;
  readonly object: (what: string) => void;
}

/** What clients know of a front end. */
export interface FrontEndSeen {
  readonly trouble: Trouble;
  /** The longest time so far in which it answered nobody. */
  readonly outageMs: number;
}

/** One client's open, or lock, that excludes all other use of a file. */
export class Hold {
  readonly sinceMs: number;
  readonly #setup: HoldsSetup;
  readonly #frontEnd: () => FrontEndSeen;
  /** When the last request was sent that succeeded by it. */
  #lastMs: number;
  #isOver = false;
  #taken: { readonly atMs: number; readonly by: string } | null = null;

  constructor(setup: HoldsSetup, frontEnd: () => FrontEndSeen, sentMs: number) {
    this.#setup = setup;
    this.#frontEnd = frontEnd;
    this.sinceMs = setup.nowMs();
    this.#lastMs = sentMs;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get lastMs(): number {
    return this.#lastMs;
  }

  /** When somebody else has used the file; null if nobody has. */
  get takenMs(): number | null {
    return this.#taken?.atMs ?? null;
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
    const { trouble, outageMs } = this.#frontEnd();
    if (trouble === "ended" || outageMs >= OUTAGE_MS_MIN) return;
    const answered = `which has answered every ${Math.round(outageMs)} ms`;
    this.#setup.object(`${why} ended a hold at a front end ${answered}`);
  }
}

/**
 * Tells which client has a file to itself, as far as clients can know. A second client may get in only when the
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
  begin(by: string, frontEnd: () => FrontEndSeen, sentMs: number): Hold {
    this.used(by, sentMs);
    if (this.#lostMs !== null) this.#noteLost(this.#lostMs, this.#setup.nowMs());
    this.#lostMs = null;
    const hold = new Hold(this.#setup, frontEnd, sentMs);
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
    // Its client may notice the loss long after somebody else has got the file.
    if (hold.takenMs !== null) this.#noteLost(hold.lastMs, hold.takenMs);
    else this.#lostMs = Math.max(this.#lostMs ?? 0, hold.lastMs);
  }

  #noteLost(lastMs: number, takenMs: number): void {
    this.#longestLostMs = Math.max(this.#longestLostMs, takenMs - lastMs);
  }
}
