import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { ROUND_RECORDS_MAX, SweepRound } from "../shared/sweep-round.ts";
import type { QueueContext } from "./context.ts";
import {
  type ExpiryNote,
  firstSlotKey,
  readExpiryNote,
  readSlot,
  removalNeeds,
  removeMessage,
  type Slot,
  slotOfEntry,
} from "./records.ts";

/** Visibility slots that one round reads. Reading is cheaper than writing. */
const ROUND_SLOTS_MAX = 1_024;

/** How far one queue has been searched. */
interface Search {
  readonly note: ExpiryNote;
  readonly from: Bytes;
}

/**
 * Removes messages that nothing can reach any more: those of deleted and cleared queues, and
 * expired ones that no get has removed.
 */
export class QueueSweep {
  readonly #context: QueueContext;
  #search: Search | null = null;

  constructor(context: QueueContext) {
    this.#context = context;
  }

  /**
   * Runs one round, which writes a bounded number of records. True while there may be more to do.
   */
  async sweep(): Promise<boolean> {
    const { store } = this.#context;
    if (await store.read((view) => firstDoomed(view) !== null)) {
      await store.transact(freeDoomed);
      return true;
    }
    return this.#searchExpired();
  }

  async #searchExpired(): Promise<boolean> {
    const { store } = this.#context;
    this.#search ??= await store.read(beginSearch);
    const search = this.#search;
    if (search === null) return false;
    const page = await store.read((view) => searchPage(view, search));
    const { id } = search.note;
    const isEnd = page.next === null;
    if (isEnd || page.expired.length > 0) {
      await store.transact((tx) => {
        removeExpired(tx, id, page.expired);
        if (isEnd) tx.delete(search.note.key);
      });
    }
    this.#search = page.next === null ? null : { note: search.note, from: page.next };
    return true;
  }
}

function firstDoomed(view: View): Entry | null {
  const all = key(SPACE.doomedQueue);
  return view.range(all, keyAfter(all), { limit: 1 })[0] ?? null;
}

const HELD: readonly Space[] = [SPACE.message, SPACE.messageSlot, SPACE.messageCount];

function freeDoomed(tx: Transaction): void {
  const doomed = firstDoomed(tx);
  if (doomed === null) return;
  const id = new KeyReader(doomed.key).u64();
  const round = new SweepRound(tx);
  for (const space of HELD) round.remove(key(space, id));
  if (!round.isOver) tx.delete(doomed.key);
}

function beginSearch(view: View): Search | null {
  const note = readExpiryNote(view);
  return note === null ? null : { note, from: firstSlotKey(note.id, 0) };
}

interface Page {
  readonly expired: readonly Slot[];
  /** Null at the end. */
  readonly next: Bytes | null;
}

function searchPage(view: View, { note, from }: Search): Page {
  const until = keyAfter(key(SPACE.messageSlot, note.id));
  const entries = view.range(from, until, { limit: ROUND_SLOTS_MAX });
  const expired: Slot[] = [];
  for (const entry of entries) {
    const slot = slotOfEntry(entry);
    if (!isExpired(slot, view.now())) continue;
    expired.push(slot);
    if (expired.length >= ROUND_RECORDS_MAX) return { expired, next: keyAfter(entry.key) };
  }
  const last = entries.length < ROUND_SLOTS_MAX ? undefined : entries.at(-1);
  return { expired, next: last === undefined ? null : keyAfter(last.key) };
}

/**
 * Reads the messages again, because some may have been removed, or the queue deleted, meanwhile.
 */
function removeExpired(tx: Transaction, id: bigint, expired: readonly Slot[]): void {
  prefetch(tx, () => removalNeeds(id, expired));
  for (const slot of expired) {
    if (readSlot(tx, id, slot.receipt) !== null) removeMessage(tx, id, slot);
  }
}
