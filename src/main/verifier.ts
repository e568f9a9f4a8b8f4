import { eachBorrowed, lengthOf } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { keyBehind } from "../base/keys.ts";
import type { Content } from "../store/content.ts";
import type { Contents } from "../store/contents.ts";
import type { Entry } from "../store/entry.ts";
import { isDamageError, type Store } from "../store/store.ts";
import { contentOfRecord, nameOfRecord } from "./object-names.ts";
import type { Progress } from "./progress-bar.ts";

/** Records per read, so that requests run in between. */
const RECORDS_AT_ONCE = 256;
/** The most remembered contents; a remembered one is read only once. */
const CONTENTS_REMEMBERED_MAX = 1_000_000;
const FIRST_KEY = Buffer.from([0x01]);
const BEHIND_ALL = Buffer.from([0xff]);

/**
 * Reads every record, and all bytes that records refer to. The engine reports damaged records as it
 * finds them; `onDamage` is called for objects whose bytes are damaged or missing.
 */
export class Verifier {
  readonly #store: Store;
  readonly #contents: Contents;
  readonly #onDamage: (name: string, reason: string) => void;
  readonly #seen = new Set<bigint>();
  #records = 0;
  #bytes = 0;

  constructor(
    { store, contents }: { readonly store: Store; readonly contents: Contents },
    onDamage: (name: string, reason: string) => void,
  ) {
    this.#store = store;
    this.#contents = contents;
    this.#onDamage = onDamage;
  }

  /** Reads everything, and yields its progress in records and their bytes, contents included. */
  async *run(): AsyncGenerator<Progress> {
    for (let from: Bytes | null = FIRST_KEY; from !== null; ) {
      const entries: readonly Entry[] | null = await this.#readRecords(from);
      for (const entry of entries ?? []) {
        this.#records++;
        this.#bytes += entry.key.length + entry.value.length;
        const before = this.#bytes;
        await this.#readBytesOf(entry);
        if (this.#bytes > before) yield { objects: this.#records, bytes: this.#bytes };
      }
      yield { objects: this.#records, bytes: this.#bytes };
      from = nextKey(entries);
    }
  }

  /** The next records; null if the database cannot be read there. */
  async #readRecords(from: Bytes): Promise<readonly Entry[] | null> {
    const options = { limit: RECORDS_AT_ONCE, skipsDamaged: true };
    try {
      return await this.#store.read((view) => view.range(from, BEHIND_ALL, options));
    } catch (error) {
      if (!isDamageError(error)) throw error;
      this.#onDamage("the database itself, and what follows is not read", error.message);
      return null;
    }
  }

  async #readBytesOf({ key, value }: Entry): Promise<void> {
    const content = contentOfRecord(key, value);
    if (content === null || !this.#isNew(content)) return;
    try {
      await this.#read(key);
    } catch (error) {
      if (!isDamageError(error)) throw error;
      const name = await this.#store.read((view) => nameOfRecord(view, key));
      this.#onDamage(name, error.message);
    }
  }

  #isNew({ id, kind }: Content): boolean {
    // A map that several records share has an id for each of them.
    if (kind === "map") return true;
    if (this.#seen.has(id)) return false;
    if (this.#seen.size < CONTENTS_REMEMBERED_MAX) this.#seen.add(id);
    return true;
  }

  /** Reads the bytes that a record refers to now: it may have changed since it was listed. */
  async #read(key: Bytes): Promise<void> {
    const reading = await this.#store.read((view) => {
      const value = view.get(key);
      const content = value === undefined ? null : contentOfRecord(key, value);
      return content && this.#contents.open(view, content, 0, content.length);
    });
    if (reading === null) return;
    try {
      await eachBorrowed(reading, (parts) => {
        this.#bytes += lengthOf(parts);
      });
    } finally {
      reading.close();
    }
  }
}

/** The key after these records; null after the last, or if the database cannot be read. */
function nextKey(entries: readonly Entry[] | null): Bytes | null {
  const last = entries?.at(-1);
  const isEnd = entries === null || entries.length < RECORDS_AT_ONCE;
  return last === undefined || isEnd ? null : keyBehind(last.key);
}
