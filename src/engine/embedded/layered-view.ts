import type { Bytes } from "../../base/bytes.ts";
import type { Entry } from "../../store/store.ts";
import type { State } from "../body-view.ts";
import { keyOf, nameOf } from "../sorted-items.ts";
import { DeadZones } from "./dead-zones.ts";
import { type Cell, copyOf, Memtable } from "./memtable.ts";
import type { SealedRecords } from "./sealed-records.ts";

/** Fewer are as soon passed again. */
const PASSED_MIN = 16;

/** The newest state: what LMDB has, and over it what it does not have yet. */
export class LayeredView implements State {
  newest = 0;
  readonly #records: SealedRecords;
  #top = new Memtable();
  /** On its way into LMDB. */
  #immutable: Memtable | null = null;
  readonly #deadZones = new DeadZones();
  /** How many that are gone were met so far. */
  #passed = 0;

  constructor(records: SealedRecords) {
    this.#records = records;
  }

  get top(): Memtable {
    return this.#top;
  }

  get isCheckpointing(): boolean {
    return this.#immutable !== null;
  }

  get(key: Bytes, known?: string): Bytes | undefined {
    const immutable = this.#immutable?.mayHave(key) === true ? this.#immutable : null;
    if (immutable !== null || this.#top.mayHave(key)) {
      const name = known ?? nameOf(key);
      const cell = this.#top.get(name) ?? immutable?.get(name);
      if (cell !== undefined) {
        this.#see(cell);
        return copyOf(cell) ?? undefined;
      }
    }
    return this.#records.get(key);
  }

  scan(from: Bytes, until: Bytes, reverse: boolean, skipsDamaged = false): Iterable<Entry> {
    return reverse
      ? this.#scanLayers(from, until, true, skipsDamaged)
      : this.#scanUp(from, until, skipsDamaged);
  }

  /** What the WAL has in the file that is being written to can go on there. */
  canAppend(name: string, size: number): boolean {
    const cell = this.#top.get(name);
    if (cell === undefined) return false;
    this.#see(cell);
    return cell.head !== null && cell.size === size;
  }

  /** `value` is about to be written: null deletes. */
  change(name: string, value: Bytes | null): void {
    if (value !== null) this.#deadZones.end(name);
  }

  /** Lays a new memtable on top. The one before goes into LMDB; until it is there nothing else may. */
  beginCheckpoint(): Memtable {
    const immutable = this.#top;
    this.#immutable = immutable;
    this.#top = new Memtable();
    return immutable;
  }

  /** Lays what an earlier process has left below everything. */
  resumeCheckpoint(memtable: Memtable): void {
    this.#immutable = memtable;
  }

  /** Everything that was settling is what LMDB reads. */
  endCheckpoint(): void {
    this.#immutable?.release();
    this.#immutable = null;
  }

  #scanUp(from: Bytes, until: Bytes, skipsDamaged: boolean): Iterable<Entry> {
    const zone = this.#deadZones.find(nameOf(from));
    if (zone === null) {
      const entries = this.#scanLayers(from, until, false, skipsDamaged);
      return this.#noteDead(entries, from, until);
    }
    if (zone.newest > this.newest) this.newest = zone.newest;
    if (zone.until >= nameOf(until)) return [];
    const start = keyOf(zone.until);
    return this.#noteDead(this.#scanLayers(start, until, false, skipsDamaged), start, until);
  }

  #scanLayers(from: Bytes, until: Bytes, reverse: boolean, skipsDamaged: boolean): Iterable<Entry> {
    let entries = this.#records.scan(from, until, reverse, skipsDamaged);
    for (const memtable of [this.#immutable, this.#top]) {
      if (memtable !== null) entries = memtable.layOver(entries, from, until, reverse, this.#see);
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
