import { count, format, struct } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import { commit } from "./checkpoint.ts";
import type { Lmdb } from "./lmdb.ts";
import type { SealedRecords } from "./sealed-records.ts";
import type { WalNote } from "./wal-check.ts";

/**
 * The pause between notes, each of which costs a small commit. If the end of the WAL is lost,
 * writes acknowledged since the last note go missing unnoticed.
 */
const PAUSE_MS = 200;

const WAL_NOTE = key(SPACE.engine, "wal-note");
const pair = struct({ first: count, second: count });
const noteFormat = format(1, { generations: pair, sizes: pair, group: count });

/** Reads the database's note about its WAL; null if it never had one. */
export function readWalNote(records: SealedRecords): WalNote | null {
  const found = records.get(WAL_NOTE);
  if (found === undefined) {
    records.proveMisses();
    return null;
  }
  const { generations, sizes, group } = noteFormat.decode(found);
  return {
    generations: [generations.first, generations.second],
    sizes: [sizes.first, sizes.second],
    group,
  };
}

export async function writeWalNote(
  lmdb: Lmdb,
  records: SealedRecords,
  { generations, sizes, group }: WalNote,
): Promise<void> {
  const value = noteFormat.encode({
    generations: { first: generations[0], second: generations[1] },
    sizes: { first: sizes[0], second: sizes[1] },
    group,
  });
  await commit(lmdb, () => records.put(WAL_NOTE, value));
  lmdb.resetReadTxn();
}

/** Writes WAL notes in the background: the first at once, later ones with a pause between them. */
export class WalNotes {
  readonly #write: (note: WalNote) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #latest: WalNote | null = null;
  #running: Promise<void> | null = null;
  #pause: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(write: (note: WalNote) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
  }

  /** Call when a group has become durable. */
  reached(note: WalNote): void {
    this.#latest = note;
    if (this.#pause === null && this.#running === null) this.#writeLatest();
  }

  /** Stops writing notes. Resolves once none is being written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#pause !== null) clearTimeout(this.#pause);
    await this.#running;
  }

  #writeLatest(): void {
    const note = this.#latest;
    this.#pause = null;
    if (note === null || this.#isStopped) return;
    this.#latest = null;
    this.#running = this.#write(note)
      .catch((error) => this.#onError(error))
      .finally(() => {
        this.#running = null;
        if (!this.#isStopped) this.#pause = setTimeout(() => this.#writeLatest(), PAUSE_MS).unref();
      });
  }
}
