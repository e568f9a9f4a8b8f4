import type { Bytes } from "../../base/bytes.ts";
import type { Entry } from "../../store/store.ts";
import type { State } from "../body-view.ts";
import { keyOf, nameOf } from "../sorted-items.ts";
import { DeadZones } from "./dead-zones.ts";
import { type Cell, copyOf, Overlay } from "./memtable.ts";
import type { SealedRecords } from "./sealed-records.ts";

/** Fewer are as soon passed again. */
const PASSED_MIN = 16;

/** The newest state: what lmdb has, and over it what it does not have yet. */
export class LayeredState implements State {
  newest = 0;
  readonly #records: SealedRecords;
  #top = new Overlay();
  /** On its way into lmdb. */
  #settling: Overlay | null = null;
  readonly #deadZones = new DeadZones();
  /** How many that are gone were met so far. */
  #passed = 0;

  constructor(records: SealedRecords) {
    this.#records = records;
  }

  get top(): Overlay {
    return this.#top;
  }

  get isSettling(): boolean {
    return this.#settling !== null;
  }

  get(key: Bytes, known?: string): Bytes | undefined {
    const settling = this.#settling?.mayHave(key) === true ? this.#settling : null;
    if (settling !== null || this.#top.mayHave(key)) {
      const name = known ?? nameOf(key);
      const cell = this.#top.get(name) ?? settling?.get(name);
      if (cell !== undefined) {
        this.#see(cell);
        return copyOf(cell) ?? undefined;
      }
    }
    return this.#records.get(key);
  }

  scan(from: Bytes, until: Bytes, reverse: boolean, sparesDamaged = false): Iterable<Entry> {
    return reverse
      ? this.#scanLayers(from, until, true, sparesDamaged)
      : this.#scanUp(from, until, sparesDamaged);
  }

  /** What the log has in the file that is being written to can go on there. */
  canExtend(name: string, size: number): boolean {
    const cell = this.#top.get(name);
    if (cell === undefined) return false;
    this.#see(cell);
    return cell.head !== null && cell.size === size;
  }

  /** `value` is about to be written: null deletes. */
  change(name: string, value: Bytes | null): void {
    if (value !== null) this.#deadZones.end(name);
  }

  /** Lays a new overlay on top. The one before goes into lmdb; until it is there nothing else may. */
  beginSettling(): Overlay {
    const settling = this.#top;
    this.#settling = settling;
    this.#top = new Overlay();
    return settling;
  }

  /** Lays what an earlier process has left below everything. */
  resumeSettling(overlay: Overlay): void {
    this.#settling = overlay;
  }

  /** Everything that was settling is what lmdb reads. */
  endSettling(): void {
    this.#settling?.release();
    this.#settling = null;
  }

  #scanUp(from: Bytes, until: Bytes, sparesDamaged: boolean): Iterable<Entry> {
    const zone = this.#deadZones.find(nameOf(from));
    if (zone === null) {
      const entries = this.#scanLayers(from, until, false, sparesDamaged);
      return this.#noteDead(entries, from, until);
    }
    if (zone.newest > this.newest) this.newest = zone.newest;
    if (zone.until >= nameOf(until)) return [];
    const start = keyOf(zone.until);
    return this.#noteDead(this.#scanLayers(start, until, false, sparesDamaged), start, until);
  }

  #scanLayers(
    from: Bytes,
    until: Bytes,
    reverse: boolean,
    sparesDamaged: boolean,
  ): Iterable<Entry> {
    let entries = this.#records.scan(from, until, reverse, sparesDamaged);
    for (const overlay of [this.#settling, this.#top]) {
      if (overlay !== null) entries = overlay.layOver(entries, from, until, reverse, this.#see);
    }
    return entries;
  }

  /** If many that are gone had to be passed before the first that is there, the next need not. */
  *#noteDead(entries: Iterable<Entry>, from: Bytes, until: Bytes): Generator<Entry> {
    const passedBefore = this.#passed;
    let isFirst = true;
    for (const entry of entries) {
      if (isFirst) this.#noteIfMany(passedBefore, from, entry.key);
      isFirst = false;
      yield entry;
    }
    if (isFirst) this.#noteIfMany(passedBefore, from, until);
  }

  #noteIfMany(passedBefore: number, from: Bytes, until: Bytes): void {
    if (this.#passed - passedBefore < PASSED_MIN) return;
    this.#deadZones.note(nameOf(from), nameOf(until), this.newest);
  }

  readonly #see = (cell: Cell): void => {
    if (cell.head === null) this.#passed++;
    if (cell.awaited > this.newest) this.newest = cell.awaited;
  };
}
