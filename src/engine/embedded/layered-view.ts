import type { Bytes } from "../../base/bytes.ts";
import type { Slabs } from "../../machine/slabs.ts";
import type { Entry } from "../../store/entry.ts";
import type { State } from "../body-view.ts";
import { keyOf, nameOf } from "../sorted-items.ts";
import { DeadZones } from "./dead-zones.ts";
import { type Cell, copyOf, Memtable } from "./memtable.ts";
import type { SealedRecords } from "./sealed-records.ts";

/** Below this many tombstones, rescanning is cheaper than remembering a dead zone. */
const TOMBSTONES_MIN = 16;

/** The newest state: the memtables merged over LMDB. */
export class LayeredView implements State {
  newest = 0;
  readonly #records: SealedRecords;
  readonly #slabs: Slabs;
  #top: Memtable;
  /** The memtable that a checkpoint is copying into LMDB. */
  #immutable: Memtable | null = null;
  readonly #deadZones = new DeadZones();
  /** Tombstones met so far. */
  #tombstones = 0;

  /** `slabs` is the memory of the memtables. */
  constructor(records: SealedRecords, slabs: Slabs) {
    this.#records = records;
    this.#slabs = slabs;
    this.#top = new Memtable(slabs);
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

  /** Whether a value of this size can be appended to in place: it is in the current WAL file. */
  canAppend(name: string, size: number): boolean {
    const cell = this.#top.get(name);
    if (cell === undefined) return false;
    this.#see(cell);
    return cell.head !== null && cell.size === size;
  }

  /** Call before a value is written; null deletes. */
  change(name: string, value: Bytes | null): void {
    if (value !== null) this.#deadZones.end(name);
  }

  /** Starts a new memtable, and returns the old one for a checkpoint. One checkpoint at a time. */
  beginCheckpoint(): Memtable {
    const immutable = this.#top;
    this.#immutable = immutable;
    this.#top = new Memtable(this.#slabs);
    return immutable;
  }

  /** Resumes the checkpoint of a memtable that was recovered from the WAL. */
  resumeCheckpoint(memtable: Memtable): void {
    this.#immutable = memtable;
  }

  /** Drops the checkpointed memtable, now that LMDB reads return its records. */
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

  /** Remembers a dead zone if a scan passes many tombstones before its first entry. */
  *#noteDead(entries: Iterable<Entry>, from: Bytes, until: Bytes): Generator<Entry> {
    const before = this.#tombstones;
    let isFirst = true;
    for (const entry of entries) {
      if (isFirst) this.#noteIfMany(before, from, entry.key);
      isFirst = false;
      yield entry;
    }
    if (isFirst) this.#noteIfMany(before, from, until);
  }

  #noteIfMany(tombstonesBefore: number, from: Bytes, until: Bytes): void {
    if (this.#tombstones - tombstonesBefore < TOMBSTONES_MIN) return;
    this.#deadZones.note(nameOf(from), nameOf(until), this.newest);
  }

  readonly #see = (cell: Cell): void => {
    if (cell.head === null) this.#tombstones++;
    if (cell.awaited > this.newest) this.newest = cell.awaited;
  };
}
