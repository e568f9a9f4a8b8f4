import type { Bytes } from "../../base/bytes.ts";
import { keyAfter, type Space } from "../../base/keys.ts";
import {
  CACHED_ENTRIES_MIN,
  DERIVED_BYTES_MAX,
  derivedRange,
  fetchesRecords,
} from "../../store/accelerated.ts";
import type { Derivation, Derived } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
import { EntryTexts, textBytesMax } from "./entry-texts.ts";

/** Entries to read when it is unknown how many will be used, as after a jump. */
const FEW_ENTRIES = 8;
const PAGE_ENTRIES_MAX = 1_024;
/** Entries to fetch at first. Each further round fetches twice as many. */
export const FETCHED_ENTRIES_MIN = 64;
/** Approximate memory of an entry and its decoded value, without its bytes and its text. */
const ENTRY_BYTES = 600;

/**
 * Reads the entries of one key range, in order, within one transaction body. Pages grow as long as
 * all entries are used, so that a walk with jumps reads little more than it returns.
 */
export class EntryCursor {
  readonly #view: View;
  readonly #pages: Derivation<EntryPage>;
  readonly #until: Bytes;
  #from: Bytes;
  #page: EntryPage = NO_ENTRIES;
  #at = 0;
  /** End of the part of the page to read. */
  #end = 0;
  #limit: number;
  /** Entries behind the page that belong to what was last read for. Zero if nothing is fetched. */
  #expected = 0;
  readonly #fetches: boolean;
  readonly #limitMin: number;
  /** Entries to read at least, even if the caller will use fewer. */
  #leastAhead: number;
  #lookups = 0;

  constructor(view: View, from: Bytes, until: Bytes, mayJump: boolean) {
    this.#view = view;
    this.#pages = pagesIn(from[0] as Space);
    this.#from = from;
    this.#until = until;
    // A round costs more than entries that are not used.
    this.#fetches = fetchesRecords(view);
    this.#limitMin = this.#fetches ? PAGE_ENTRIES_MAX : FEW_ENTRIES;
    this.#leastAhead = this.#fetches ? FETCHED_ENTRIES_MIN : 0;
    this.#limit = mayJump ? this.#limitMin : PAGE_ENTRIES_MAX;
  }

  /** The next entry; null at the end. The caller uses at most `most` more, this one included. */
  head(most: number): ListedEntry | null {
    while (this.#at >= this.#end) {
      if (this.#from.compare(this.#until) >= 0) return null;
      this.#readPage(most);
    }
    return this.#page.entries[this.#at] ?? null;
  }

  /** Times that it has read from the store. */
  get lookups(): number {
    return this.#lookups;
  }

  /**
   * Entries from the head on, as many as are at hand. An engine that fetches records is asked for
   * the pages behind this one, too: cached pages can be short, and each would take a round.
   */
  ahead(limit: number): readonly ListedEntry[] {
    const own = this.#page.entries.slice(this.#at, Math.min(this.#end, this.#at + limit));
    const more = Math.min(limit - own.length, this.#expected);
    if (more <= 0) return own;
    const options = { limit: more, bytesMax: DERIVED_BYTES_MAX, skipsDamaged: true };
    const entries = this.#view.range(this.#from, this.#until, options);
    return [...own, ...new EntryPage(entries).entries];
  }

  advance(): void {
    this.#at++;
  }

  /** Skips all keys that begin with `prefix`, which include the head. */
  jumpPast(prefix: Bytes): void {
    this.jumpTo(keyAfter(prefix));
  }

  /** Skips all keys before `target`. */
  jumpTo(target: Bytes): void {
    this.#at = Math.max(this.#at, this.#page.indexOf(target));
    if (this.#at < this.#end || target.compare(this.#from) <= 0) return;
    this.#from = target;
    this.#expected = 0;
    this.#limit = this.#limitMin;
  }

  #readPage(most: number): void {
    const limit = Math.min(this.#limit, Math.max(most, this.#leastAhead));
    this.#leastAhead *= 2;
    this.#lookups++;
    const { derived, until } = derivedRange(
      this.#view,
      this.#pages,
      this.#from,
      this.#until,
      limit,
    );
    this.#page = derived;
    this.#at = derived.indexOf(this.#from);
    this.#end =
      until.compare(this.#until) <= 0 ? derived.entries.length : derived.indexOf(this.#until);
    this.#from = until;
    this.#expected = this.#fetches ? limit - (this.#end - this.#at) : 0;
    this.#limit = Math.min(this.#limit * 2, PAGE_ENTRIES_MAX);
  }
}

/** An entry that caches its decoded value and its text in the format used last. */
export class ListedEntry implements Entry {
  readonly key: Bytes;
  readonly value: Bytes;
  readonly #page: EntryPage;
  readonly #row: number;
  #content: unknown = null;

  constructor({ key, value }: Entry, page: EntryPage, row: number) {
    this.key = key;
    this.value = value;
    this.#page = page;
    this.#row = row;
  }

  /** Decodes the entry once. Entries of one space must always pass the same function. */
  content<T>(read: (entry: ListedEntry) => T): T {
    this.#content ??= read(this);
    return this.#content as T;
  }

  /** Its cached text in this format; null if there is none. */
  textIn(format: unknown): Bytes | null {
    return this.#page.textIn(format, this.#row);
  }

  /** Caches the text and returns the cached copy. The text must depend on the entry alone. */
  cacheText(format: unknown, text: Bytes): Bytes {
    return this.#page.cacheText(format, this.#row, text);
  }
}

class EntryPage implements Derived {
  readonly entries: readonly ListedEntry[];
  readonly bytes: number;
  readonly #textBytesMax: number;
  #texts: EntryTexts | null = null;

  constructor(entries: readonly Entry[]) {
    this.entries = entries.map((entry, row) => new ListedEntry(entry, this, row));
    let bytes = 0;
    for (const { key, value } of entries) bytes += key.length + value.length;
    const isCached = entries.length >= CACHED_ENTRIES_MIN;
    this.#textBytesMax = isCached ? textBytesMax(entries.length, bytes) : 0;
    this.bytes = ENTRY_BYTES * entries.length + bytes + this.#textBytesMax;
  }

  textIn(format: unknown, row: number): Bytes | null {
    const texts = this.#texts;
    return texts === null || texts.format !== format ? null : texts.of(row);
  }

  /** Drops cached texts in any other format. */
  cacheText(format: unknown, row: number, text: Bytes): Bytes {
    if (this.#textBytesMax === 0) return text;
    if (this.#texts === null || this.#texts.format !== format) {
      this.#texts = new EntryTexts(format, this.#textBytesMax);
    }
    return this.#texts.keep(row, text);
  }

  /** Index of the first entry whose key is not before `key`. */
  indexOf(key: Bytes): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.entries[middle] as Entry).key.compare(key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NO_ENTRIES = new EntryPage([]);
const DERIVATIONS = new Map<Space, Derivation<EntryPage>>();

function pagesIn(space: Space): Derivation<EntryPage> {
  const known = DERIVATIONS.get(space);
  if (known !== undefined) return known;
  const derivation = { space, make: (entries: readonly Entry[]) => new EntryPage(entries) };
  DERIVATIONS.set(space, derivation);
  return derivation;
}
