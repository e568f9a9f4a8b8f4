import { BODY_BYTES_MAX } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { KeyReader, key, keyAfter, keyBehind, SPACE, type Space } from "../../base/keys.ts";
import type { Schedule } from "../../base/schedule.ts";
import { bytesInUse } from "../../content/content-uses.ts";
import { COUNTED_BLOBS } from "../../service/blob/counted-blobs.ts";
import { COUNTED_FILES } from "../../service/file/counted-files.ts";
import { COUNTED_MESSAGES } from "../../service/queue/counted-messages.ts";
import type { Counted, CountedRecords, Tally } from "../../service/shared/counted-records.ts";
import { COUNTED_TABLES } from "../../service/table/counted-tables.ts";
import type { Entry } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";

/** Records that one step reads at most; their bytes are limited, too. */
const RECORDS_PER_STEP = 1_000;
/** Steps that a scrape waits for, of about 1 ms: small data is counted anew with every scrape. */
const STEPS_PER_SCRAPE = 32;
/** The pause between two steps that no scrape waits for: about 2 % of a processor. */
const PAUSE_MS = 100;

const COUNTED_RECORDS: readonly CountedRecords[] = [
  ...COUNTED_BLOBS,
  ...COUNTED_MESSAGES,
  ...COUNTED_TABLES,
  ...COUNTED_FILES,
];

/** The result of a scan over everything that is counted. */
export interface CensusFigures {
  readonly begunMs: Instant;
  readonly endedMs: Instant;
  /** Records that the scan has read. */
  readonly records: number;
  count(counted: Counted): number;
  /** When the oldest message was put; null if there is none. */
  readonly oldestMessageMs: Instant | null;
  /** Bytes of extents that contents use. */
  readonly liveBytes: number;
}

export interface CensusSetup {
  readonly store: Pick<Store, "read">;
  readonly schedule: Schedule;
  readonly onError: (error: unknown) => void;
}

/**
 * Counts leases, handles, locks, messages and bytes in use, by reading their records. Nothing is
 * counted while they are written, so that metrics cost a write nothing.
 *
 * A scrape begins a round, unless one is under way, and waits for its first steps only. A round
 * that takes longer goes on in the background, slowly, and scrapes show the round before.
 */
export class Census {
  readonly #setup: CensusSetup;
  #last: CensusFigures | null = null;
  #round: Round | null = null;
  #next: { cancel(): void } | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(setup: CensusSetup) {
    this.#setup = setup;
  }

  /** The last round that has ended; null if none has. */
  get figures(): CensusFigures | null {
    return this.#last;
  }

  /** Begins a round if none is under way. Resolves after some steps. */
  refresh(): Promise<void> {
    if (this.#round !== null || this.#isStopped) return Promise.resolve();
    this.#round = new Round(this.#setup.store);
    this.#running = this.#run(STEPS_PER_SCRAPE);
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.cancel();
    await this.#running;
  }

  async #run(steps: number): Promise<void> {
    const round = this.#round as Round;
    try {
      for (let step = 0; step < steps && !this.#isStopped; step++) {
        await fairQueue.next();
        this.#last = (await round.step()) ?? this.#last;
        if (round.isDone) break;
      }
    } catch (error) {
      // The next scrape begins anew.
      this.#round = null;
      if (!this.#isStopped) this.#setup.onError(error);
      return;
    }
    if (round.isDone) this.#round = null;
    else if (!this.#isStopped) this.#continueLater();
  }

  #continueLater(): void {
    this.#next = this.#setup.schedule(() => {
      this.#running = this.#run(1);
    }, PAUSE_MS);
  }
}

/** One scan, from the first counted record to the last. */
class Round {
  readonly #store: Pick<Store, "read">;
  /** What is left to read, each in the order of its keys. */
  readonly #rest: CountedRecords[] = [
    ...COUNTED_RECORDS,
    {
      space: SPACE.extentUse,
      count: ({ value }) => {
        this.#liveBytes += bytesInUse(value);
      },
    },
  ];
  readonly #ids = new Map<Space, Set<bigint>>();
  readonly #counts = new Map<Counted, number>();
  /** What was found in each directory, which may be found itself only later. */
  readonly #nested = new Map<bigint, Nested>();
  #from: Bytes | null = null;
  #records = 0;
  #begunMs: Instant | null = null;
  #oldestMessageMs: Instant | null = null;
  #liveBytes = 0;

  constructor(store: Pick<Store, "read">) {
    this.#store = store;
  }

  get isDone(): boolean {
    return this.#rest.length === 0;
  }

  /** Reads some more records. Returns the figures after the last. */
  async step(): Promise<CensusFigures | null> {
    const counted = this.#rest[0] as CountedRecords;
    const prefix = key(counted.space);
    const options = { limit: RECORDS_PER_STEP, bytesMax: BODY_BYTES_MAX, skipsDamaged: true };
    const { entries, now } = await this.#store.read((view) => ({
      entries: view.range(this.#from ?? prefix, keyAfter(prefix), options),
      now: view.now(),
    }));
    this.#begunMs ??= now;
    this.#records += entries.length;
    for (const entry of entries) this.#count(counted, entry, now);
    this.#from = nextKey(entries);
    if (this.#from === null) {
      this.#countNested(counted);
      this.#rest.shift();
    }
    return this.isDone ? this.#figures(now) : null;
  }

  #count(counted: CountedRecords, entry: Entry, now: Instant): void {
    const { parent, nests, idOf } = counted;
    const held = idOf?.(entry) ?? null;
    const holder = parent === undefined ? null : new KeyReader(entry.key).u64();
    const isThere = holder === null || this.#idsOf(parent as Space).has(holder);
    if (isThere) {
      if (held !== null) this.#idsOf(counted.space).add(held);
      counted.count(entry, now, this.#tally);
    } else if (nests === true) {
      this.#nestedIn(holder).add(counted, entry, now, held);
    }
  }

  #nestedIn(holder: bigint): Nested {
    const known = this.#nested.get(holder) ?? new Nested();
    this.#nested.set(holder, known);
    return known;
  }

  /** Counts what lies in directories, from those that are in containers downwards. */
  #countNested({ nests, space }: CountedRecords): void {
    if (nests !== true) return;
    const ids = [...this.#idsOf(space)];
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const nested = this.#nested.get(id);
      if (nested === undefined) continue;
      for (const [counted, count] of nested.counts) {
        this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + count);
      }
      ids.push(...nested.ids);
    }
    this.#nested.clear();
  }

  readonly #tally: Tally = {
    add: (counted) => {
      this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
    },
    noteMessage: (insertedMs) => {
      this.#oldestMessageMs = Math.min(this.#oldestMessageMs ?? insertedMs, insertedMs);
    },
  };

  #idsOf(space: Space): Set<bigint> {
    const ids = this.#ids.get(space) ?? new Set();
    this.#ids.set(space, ids);
    return ids;
  }

  #figures(endedMs: Instant): CensusFigures {
    return {
      begunMs: this.#begunMs ?? endedMs,
      endedMs,
      records: this.#records,
      count: (counted) => this.#counts.get(counted) ?? 0,
      oldestMessageMs: this.#oldestMessageMs,
      liveBytes: this.#liveBytes,
    };
  }
}

/** The records in one directory, until it is known whether the directory is still there. */
class Nested {
  readonly counts = new Map<Counted, number>();
  readonly ids: bigint[] = [];

  add(counted: CountedRecords, entry: Entry, now: Instant, held: bigint | null): void {
    if (held !== null) this.ids.push(held);
    counted.count(entry, now, {
      add: (name) => this.counts.set(name, (this.counts.get(name) ?? 0) + 1),
      noteMessage: () => {},
    });
  }
}

/** The key after these records; null if a step found the end of the space. */
function nextKey(entries: readonly Entry[]): Bytes | null {
  const last = entries.at(-1);
  if (last === undefined) return null;
  const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  const isEnd = entries.length < RECORDS_PER_STEP && bytes < BODY_BYTES_MAX;
  return isEnd ? null : keyBehind(last.key);
}
