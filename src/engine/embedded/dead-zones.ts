const ZONES_MAX = 256;

/** From here on there is nothing, up to `until`. */
interface Zone {
  readonly from: string;
  until: string;
  /** The newest group of which something is missing there. */
  newest: number;
}

/**
 * Where nothing is left of what LMDB still has: who takes from the front of a row of keys again and again
 * would otherwise pass everything that was taken before, each time.
 */
export class DeadZones {
  /** In the order of their names; they do not overlap. */
  readonly #zones: Zone[] = [];

  /** The zone in which this name lies. */
  find(name: string): Readonly<Zone> | null {
    const zone = this.#zones[this.#countUpTo(name) - 1];
    return zone !== undefined && name < zone.until ? zone : null;
  }

  /** There is nothing with `from <= name < until`. */
  note(from: string, until: string, newest: number): void {
    const at = this.#countUpTo(from);
    const before = this.#zones[at - 1];
    if (before !== undefined && from <= before.until) {
      if (until > before.until) before.until = until;
      before.newest = Math.max(before.newest, newest);
      this.#swallow(at - 1);
      return;
    }
    if (this.#zones.length >= ZONES_MAX) this.#zones.splice(0);
    this.#zones.splice(at, 0, { from, until, newest });
    this.#swallow(at);
  }

  /** Something is written under this name. */
  end(name: string): void {
    if (this.#zones.length === 0) return;
    const at = this.#countUpTo(name) - 1;
    const zone = this.#zones[at];
    if (zone === undefined || name >= zone.until) return;
    if (name === zone.from) this.#zones.splice(at, 1);
    else zone.until = name;
  }

  /** Zones behind this one that it reaches into become part of it. */
  #swallow(at: number): void {
    const zone = this.#zones[at] as Zone;
    for (;;) {
      const next = this.#zones[at + 1];
      if (next === undefined || next.from > zone.until) return;
      if (next.until > zone.until) zone.until = next.until;
      zone.newest = Math.max(zone.newest, next.newest);
      this.#zones.splice(at + 1, 1);
    }
  }

  /** How many zones begin at or before this name. */
  #countUpTo(name: string): number {
    let low = 0;
    let high = this.#zones.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#zones[middle] as Zone).from <= name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
