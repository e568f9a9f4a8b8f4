import { BODY_BYTES_MAX } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { key, keyAfter, keyBehind } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";
import type { Measured, MeasuredRecords } from "./measured-records.ts";
import {
  type Amounts,
  bytesOf,
  type MeasuredService,
  type Usage,
  type UsageKind,
  type UsageRow,
} from "./usage-row.ts";

/** Records that one body reads, about 1 ms of work. */
const RECORDS_PER_STEP = 256;
/** Rows for prefixes; objects of further ones are summed up in one row. */
const PREFIXES_MAX = 10_000;
/** The row of prefixes that have no row of their own. */
export const OTHER_PREFIXES = "(others)";

/** A container or share whose prefixes get a row each, below this prefix. */
export interface UsagePath {
  readonly service: MeasuredService;
  readonly account: string;
  readonly name: string;
  /** "", or something that ends with a slash. */
  readonly prefix: string;
}

export interface UsageProgress {
  readonly objects: number;
  readonly bytes: number;
}

type Place = Extract<Measured, { is: "place" }>;

/** A place or a directory, and what lies directly in it. */
interface Holder {
  readonly place: Place | null;
  readonly parent: bigint | null;
  readonly name: string | null;
  readonly kind: UsageKind;
  readonly own: Sums;
  /** By row, for names in the place whose prefixes are asked for; null outside of the path. */
  readonly byPrefix: Map<string | null, Sums>;
}

/**
 * Measures what takes space by reading all records, in steps that let requests run in between.
 * Nothing is counted while objects are written, so that writes cost nothing more. Objects that
 * change during the scan may be counted as they were before or after, and a moved one twice.
 */
export class UsageScan {
  readonly #store: Pick<Store, "read">;
  readonly #measured: readonly MeasuredRecords[];
  readonly #path: UsagePath | null;
  readonly #holders = new Map<bigint, Holder>();
  #target: bigint | null = null;
  #records = 0;
  #bytes = 0;

  /** A place comes before what lies in it in `measured`. */
  constructor(
    store: Pick<Store, "read">,
    measured: readonly MeasuredRecords[],
    path: UsagePath | null = null,
  ) {
    this.#store = store;
    this.#measured = measured;
    this.#path = path;
  }

  /** Reads everything, and yields its progress; returns null if the path does not exist. */
  async *run(): AsyncGenerator<UsageProgress, Usage | null> {
    for (const measured of this.#measured) {
      const prefix = key(measured.space);
      for (let from: Bytes | null = prefix; from !== null; ) {
        const entries: readonly Entry[] = await this.#step(measured, from, keyAfter(prefix));
        from = nextKey(entries);
        yield { objects: this.#records, bytes: this.#bytes };
      }
    }
    if (this.#path !== null && this.#target === null) return null;
    return this.#sumUp();
  }

  async #step(measured: MeasuredRecords, from: Bytes, until: Bytes): Promise<readonly Entry[]> {
    await fairQueue.next();
    const options = { limit: RECORDS_PER_STEP, bytesMax: BODY_BYTES_MAX, skipsDamaged: true };
    const { entries, now } = await this.#store.read((view) => ({
      entries: view.range(from, until, options),
      now: view.now(),
    }));
    for (const entry of entries) {
      this.#records++;
      this.#bytes += entry.key.length + entry.value.length;
      const found = measured.measure(entry, now);
      if (found !== null) this.#take(found);
    }
    return entries;
  }

  #take(found: Measured): void {
    if (found.is === "object") {
      this.#takeObject(found);
      return;
    }
    const { kind } = found;
    const [place, parent, name] =
      found.is === "place" ? [found, null, null] : [null, found.parent, found.name];
    if (place !== null && this.#isTarget(place)) this.#target = place.id;
    const known = this.#holders.get(found.id);
    const own = known?.own ?? new Sums();
    const byPrefix = known?.byPrefix ?? new Map();
    this.#holders.set(found.id, { place, parent, name, kind, own, byPrefix });
  }

  #takeObject({ parent, name, kind, bytes }: Extract<Measured, { is: "object" }>): void {
    const holder = this.#holders.get(parent) ?? unknownHolder();
    this.#holders.set(parent, holder);
    const row = parent === this.#target ? this.#prefixOf(name ?? "") : "";
    if (row === "") {
      holder.own.add(kind, 1, bytes);
      return;
    }
    const isRoom = holder.byPrefix.has(row) || holder.byPrefix.size < PREFIXES_MAX;
    sumsIn(holder.byPrefix, isRoom ? row : OTHER_PREFIXES).add(kind, 1, bytes);
  }

  #isTarget({ service, account, name, kind }: Place): boolean {
    const path = this.#path;
    if (path === null || kind !== "current") return false;
    return path.service === service && path.account === account && path.name === name;
  }

  /** The row for a name: its next segment below the path, "" without one, null if not below. */
  #prefixOf(name: string): string | null {
    const prefix = this.#path?.prefix ?? "";
    if (!name.startsWith(prefix)) return null;
    const end = name.indexOf("/", prefix.length);
    return end < 0 ? "" : name.slice(0, end + 1);
  }

  #sumUp(): Usage {
    const total = new Sums();
    const unreachable = new Sums();
    const rows = new Map<string, { readonly row: Omit<UsageRow, "amounts">; sums: Sums }>();
    for (const id of this.#holders.keys()) {
      const { place, path, kind } = this.#whereIs(id);
      for (const [prefix, sums] of this.#partsOf(id, path)) {
        total.addAll(sums, place === null ? "garbage" : kind);
        if (place === null) unreachable.addAll(sums, "garbage");
        if (place === null || !this.#isWanted(place, prefix, sums)) continue;
        const { service, account, name } = place;
        const inPlace = this.#path === null || prefix === null ? {} : { prefix };
        const row = { service, account, name, ...inPlace };
        const at = JSON.stringify(row);
        const known = rows.get(at) ?? { row, sums: new Sums() };
        known.sums.addAll(sums, kind);
        rows.set(at, known);
      }
    }
    const all = [...rows.values()].map(({ row, sums }) => ({ ...row, amounts: sums.amounts }));
    return { rows: all.sort(inOrder), total: total.amounts, unreachable: unreachable.amounts };
  }

  /** What lies in a holder, by the prefix of its row. */
  *#partsOf(id: bigint, path: string): Iterable<[row: string | null, sums: Sums]> {
    const { own, byPrefix } = this.#holders.get(id) as Holder;
    yield [id === this.#target ? "" : this.#prefixOf(path), own];
    yield* byPrefix;
  }

  /** Every place has a row, also an empty one; a prefix has one only with objects. */
  #isWanted(place: Place, prefix: string | null, sums: Sums): boolean {
    if (this.#path === null) return true;
    return place.id === this.#target && prefix !== null && !sums.isEmpty;
  }

  /** The place of a holder, its path there, and the kind that all in it have; place null if gone. */
  #whereIs(id: bigint): { place: Place | null; path: string; kind: UsageKind | null } {
    let kind: UsageKind | null = null;
    let path = "";
    const passed = new Set<bigint>();
    for (let at: bigint | null = id; at !== null && !passed.has(at); ) {
      passed.add(at);
      const holder = this.#holders.get(at);
      if (holder === undefined) break;
      if (holder.kind !== "current" && holder.kind !== "uncommitted") kind = holder.kind;
      if (holder.place !== null) return { place: holder.place, path, kind };
      if (holder.name !== null) path = `${holder.name}/${path}`;
      at = holder.parent;
    }
    return { place: null, path, kind: "garbage" };
  }
}

/** For objects that come before their holder, or whose holder is gone. */
function unknownHolder(): Holder {
  const own = new Sums();
  return { place: null, parent: null, name: null, kind: "current", own, byPrefix: new Map() };
}

function sumsIn(byPrefix: Map<string | null, Sums>, prefix: string | null): Sums {
  const known = byPrefix.get(prefix) ?? new Sums();
  byPrefix.set(prefix, known);
  return known;
}

/** Objects and bytes by kind, while they are summed up. */
class Sums {
  readonly #amounts = new Map<UsageKind, { objects: number; bytes: number }>();

  add(kind: UsageKind, objects: number, bytes: number): void {
    const known = this.#amounts.get(kind);
    if (known === undefined) this.#amounts.set(kind, { objects, bytes });
    else {
      known.objects += objects;
      known.bytes += bytes;
    }
  }

  /** Adds other sums, all of them as `kind` unless that is null. */
  addAll(other: Sums, kind: UsageKind | null): void {
    for (const [was, { objects, bytes }] of other.#amounts) this.add(kind ?? was, objects, bytes);
  }

  get isEmpty(): boolean {
    return this.#amounts.size === 0;
  }

  get amounts(): Amounts {
    return Object.fromEntries(this.#amounts);
  }
}

/** The largest first; those of one size by their names. */
function inOrder(one: UsageRow, other: UsageRow): number {
  const by = bytesOf(other.amounts) - bytesOf(one.amounts);
  return by !== 0 ? by : JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

/** The key after these records; null if a step found the end of the space. */
function nextKey(entries: readonly Entry[]): Bytes | null {
  const last = entries.at(-1);
  if (last === undefined) return null;
  const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  const isEnd = entries.length < RECORDS_PER_STEP && bytes < BODY_BYTES_MAX;
  return isEnd ? null : keyBehind(last.key);
}
