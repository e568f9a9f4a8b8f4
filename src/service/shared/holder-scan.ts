import { BODY_BYTES_MAX } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { key, keyAfter, keyBehind, type Space } from "../../base/keys.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import type { Store, View } from "../../store/store.ts";
import type { Held, Holder, HolderList } from "./holder.ts";

/** Records of one space among which holders are looked for. */
export interface HeldRecords {
  readonly space: Space;
  /** Records that one body reads; fewer if each takes further reads. */
  readonly recordsPerStep?: number;
  /** What `find` will read for this entry. */
  needs?(entry: Entry, now: Instant): Need[];
  /** Runs in a transaction's body, which may run again: it only returns what it finds. */
  find(view: View, entry: Entry, now: Instant): Found[];
}

/** A name that others lie below, or a holder. */
export type Found =
  | { readonly id: bigint; readonly below: bigint; readonly name: string }
  | { readonly id: bigint; readonly account: string; readonly name: string }
  | { readonly held: Held; readonly below: bigint; readonly path: string }
  | { readonly held: Held; readonly at: Omit<Holder, "held"> };

/** Records that one body reads at most; their bytes are limited, too. */
const RECORDS_PER_STEP = 400;
/** Steps of about 1 ms that one call waits for. */
const STEPS_PER_CALL = 64;
/** The most holders in a list. */
const HOLDERS_MAX = 5_000;
/** Directories whose names are remembered during a scan. */
const NAMES_MAX = 200_000;

/**
 * Finds holders by reading records, a few at a time: nothing is indexed when they are written, so
 * that holders cost a write nothing. Each call goes on with the scan for some steps; one that needs
 * more calls shows the scan before meanwhile.
 */
export class HolderScan {
  readonly #store: Pick<Store, "read">;
  readonly #parts: readonly HeldRecords[];
  #last: HolderList = { holders: [], atMs: null, isCut: false };
  #round: Round | null = null;
  #running: Promise<HolderList> | null = null;

  constructor(store: Pick<Store, "read">, parts: readonly HeldRecords[]) {
    this.#store = store;
    this.#parts = parts;
  }

  /** Calls that come together share the steps. */
  list(): Promise<HolderList> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<HolderList> {
    this.#round ??= new Round(this.#store, this.#parts);
    try {
      for (let step = 0; step < STEPS_PER_CALL; step++) {
        await fairQueue.next();
        const done = await this.#round.step();
        if (done === null) continue;
        this.#round = null;
        this.#last = done;
        break;
      }
    } catch (error) {
      // The next call begins anew.
      this.#round = null;
      throw error;
    }
    return this.#last;
  }
}

/** One scan, from the first record to the last. */
class Round {
  readonly #store: Pick<Store, "read">;
  readonly #rest: HeldRecords[];
  readonly #names = new Map<bigint, Exclude<Found, { held: Held }>>();
  readonly #found: Extract<Found, { held: Held }>[] = [];
  #from: Bytes | null = null;
  #isCut = false;

  constructor(store: Pick<Store, "read">, parts: readonly HeldRecords[]) {
    this.#store = store;
    this.#rest = [...parts];
  }

  /** Reads some more records. Returns the list after the last. */
  async step(): Promise<HolderList | null> {
    const part = this.#rest[0] as HeldRecords;
    const prefix = key(part.space);
    const limit = part.recordsPerStep ?? RECORDS_PER_STEP;
    const options = { limit, bytesMax: BODY_BYTES_MAX, skipsDamaged: true };
    const from = this.#from ?? prefix;
    const { found, next, now } = await this.#store.read((view) => {
      const entries = view.range(from, keyAfter(prefix), options);
      const now = view.now();
      prefetch(view, () => entries.flatMap((entry) => part.needs?.(entry, now) ?? []));
      const found = entries.flatMap((entry) => part.find(view, entry, now));
      return { found, next: nextKey(entries, limit), now };
    });
    for (const one of found) this.#add(one);
    this.#from = next;
    if (next === null) this.#rest.shift();
    return this.#rest.length === 0 ? this.#list(now) : null;
  }

  #add(found: Found): void {
    if ("held" in found) {
      if (this.#found.length < HOLDERS_MAX) this.#found.push(found);
      else this.#isCut = true;
    } else if (this.#names.size < NAMES_MAX) {
      this.#names.set(found.id, found);
    }
  }

  #list(atMs: Instant): HolderList {
    const holders = this.#found.flatMap((found) => {
      if ("at" in found) return [{ ...found.at, held: found.held }];
      const at = this.#placeOf(found.below, found.path);
      return at === null ? [] : [{ ...at, held: found.held }];
    });
    return { holders, atMs, isCut: this.#isCut };
  }

  /** Null for what was deleted with the container that held it. */
  #placeOf(below: bigint, path: string): Omit<Holder, "held"> | null {
    const name = this.#names.get(below);
    if (name === undefined) return null;
    if ("account" in name) return { account: name.account, container: name.name, path };
    return this.#placeOf(name.below, `${name.name}/${path}`);
  }
}

/** The key after these records; null at the end of the space. */
function nextKey(entries: readonly Entry[], limit: number): Bytes | null {
  const last = entries.at(-1);
  if (last === undefined) return null;
  const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  const isEnd = entries.length < limit && bytes < BODY_BYTES_MAX;
  // The entry's bytes may be reused once the body is over.
  return isEnd ? null : Buffer.from(keyBehind(last.key));
}
