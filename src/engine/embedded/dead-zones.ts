const ZONES_MAX = 256;

/** A range of names, `from <= name < until`, without any record. */
interface Zone {
  readonly from: string;
  until: string;
  /** The newest group that deleted something in it. */
  newest: number;
}

/**
 * Remembers ranges that hold only tombstones, so that scans can skip them. A queue whose messages
 * are taken from the front would otherwise scan all of its deleted messages each time.
 */
export class DeadZones {
  /** Sorted by name, without overlaps. */
  readonly #zones: Zone[] = [];

  /** The zone that contains this name. */
  find(name: string): Readonly<Zone> | null {
    const zone = this.#zones[this.#countUpTo(name) - 1];
    return zone !== undefined && name < zone.until ? zone : null;
  }

  /** Notes that there is no record with `from <= name < until`. */
  note(from: string, until: string, newest: number): void {
    const at = this.#countUpTo(from);
    const before = this.#zones[at - 1];
    if (before !== undefined && from <= before.until) {
      if (until > before.until) before.until = until;
      before.newest = Math.max(before.newest, newest);
      this.#merge(at - 1);
      return;
    }
    if (this.#zones.length >= ZONES_MAX) this.#zones.splice(0);
    this.#zones.splice(at, 0, { from, until, newest });
    this.#merge(at);
  }

  /** Call before a record with this name is written: cuts its zone off there. */
  end(name: string): void {
    if (this.#zones.length === 0) return;
    const at = this.#countUpTo(name) - 1;
    const zone = this.#zones[at];
    if (zone === undefined || name >= zone.until) return;
    if (name === zone.from) this.#zones.splice(at, 1);
    else zone.until = name;
  }

  /** Merges the zones that this one overlaps or touches into it. */
  #merge(at: number): void {
    const zone = this.#zones[at] as Zone;
    for (;;) {
      const next = this.#zones[at + 1];
      if (next === undefined || next.from > zone.until) return;
      if (next.until > zone.until) zone.until = next.until;
      zone.newest = Math.max(zone.newest, next.newest);
      this.#zones.splice(at + 1, 1);
    }
  }

  /** The number of zones that begin at or before this name. */
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
