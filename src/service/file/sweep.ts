import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Contents } from "../../store/contents.ts";
import type { Entry, Transaction, View } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import { ExpirySearch } from "./expiry-search.ts";
import { contentOfKept } from "./kept-files.ts";
import { sinceOf, stampOfKept } from "./kept-records.ts";
import { abandonShare, deletedShareOfEntry, snapshotsOf } from "./records.ts";
import { isDeletionOver } from "./share-deletions.ts";
import { decodeFile } from "./tree-records.ts";

const ROUND_RECORDS_MAX = 256;

/** What is keyed by the id of a share and has no bytes beyond its record. */
const PLAIN_SPACES = [
  SPACE.directoryEntry,
  SPACE.directory,
  SPACE.shareSnapshot,
  SPACE.shareUsage,
  SPACE.filePermission,
  SPACE.opens,
  SPACE.handle,
  SPACE.rangeLock,
  SPACE.deletePending,
  SPACE.cache,
  SPACE.leasedFile,
  SPACE.persistentHandle,
  SPACE.thinnedShare,
];

/** How far what is kept of a share has been looked through, and the note that said so. */
interface Walk {
  readonly note: Entry;
  readonly from: Bytes;
}

/**
 * Removes what nobody can reach any more: what deleted shares held, and what was kept for snapshots
 * that are gone. Bytes are freed by `Contents`.
 */
export class FileSweep {
  readonly #context: FileContext;
  #walk: Walk | null = null;
  /** Where the searches for what has expired have come to. */
  readonly #deletedShares = new ExpirySearch(SPACE.deletedShare, isExpired, abandonExpired);
  readonly #deletions = new ExpirySearch(SPACE.shareDeletion, isOver, forget);

  constructor(context: FileContext) {
    this.#context = context;
  }

  /** One round, which writes to a bounded number of records; true while there may be more to do. */
  async sweep(): Promise<boolean> {
    const { store, contents } = this.#context;
    const isSearchingShares = await this.#deletedShares.search(store);
    const isSearching = (await this.#deletions.search(store)) || isSearchingShares;
    if (await store.read((view) => firstOf(view, SPACE.doomedShare) !== null)) {
      await store.transact((tx) => freeDoomed(tx, contents));
      return true;
    }
    if (await store.read((view) => firstOf(view, SPACE.thinnedShare) === null)) return isSearching;
    this.#walk = await store.transact((tx) => freeKept(tx, contents, this.#walk));
    return true;
  }
}

function firstOf(view: View, space: Space): Entry | null {
  const all = key(space);
  return view.range(all, keyAfter(all), { limit: 1 })[0] ?? null;
}

/** A page of what is kept of a share: of that, what no snapshot shows. Returns how far it came. */
function freeKept(tx: Transaction, contents: Contents, before: Walk | null): Walk | null {
  const note = firstOf(tx, SPACE.thinnedShare);
  if (note === null) return null;
  const share = new KeyReader(note.key).u64();
  const all = key(SPACE.keptRecord, share);
  const goesOn = before?.note.key.equals(note.key) && before.note.value.equals(note.value);
  const from = goesOn === true && before !== null ? before.from : all;
  const page = tx.range(from, keyAfter(all), { limit: ROUND_RECORDS_MAX });
  const stamps = snapshotsOf(tx, share).map(({ stamp }) => stamp);
  for (const entry of page) if (!isShownBy(entry, stamps)) dropKept(tx, contents, entry);
  const last = page.length < ROUND_RECORDS_MAX ? undefined : page.at(-1);
  if (last !== undefined) return { note, from: keyAfter(last.key) };
  tx.delete(note.key);
  return null;
}

function isExpired(view: View, entry: Entry): boolean {
  return deletedShareOfEntry(entry).deleted.untilMs <= view.now();
}

function abandonExpired(tx: Transaction, entry: Entry): void {
  abandonShare(tx, deletedShareOfEntry(entry).deleted.share.id);
  tx.delete(entry.key);
}

function isOver(view: View, { value }: Entry): boolean {
  return isDeletionOver(view, value);
}

function forget(tx: Transaction, entry: Entry): void {
  tx.delete(entry.key);
}

function freeDoomed(tx: Transaction, contents: Contents): void {
  const doomed = firstOf(tx, SPACE.doomedShare);
  if (doomed === null) return;
  const share = new KeyReader(doomed.key).u64();
  let room = ROUND_RECORDS_MAX;
  const free = (space: Space, drop: (entry: Entry) => void) => {
    const all = key(space, share);
    for (const entry of room === 0 ? [] : tx.range(all, keyAfter(all), { limit: room })) {
      drop(entry);
      room--;
    }
  };
  free(SPACE.file, (entry) => {
    contents.drop(tx, decodeFile(entry.value).content);
    tx.delete(entry.key);
  });
  free(SPACE.keptRecord, (entry) => dropKept(tx, contents, entry));
  for (const space of PLAIN_SPACES) free(space, (entry) => tx.delete(entry.key));
  if (room > 0) tx.delete(doomed.key);
}

function dropKept(tx: Transaction, contents: Contents, entry: Entry): void {
  const content = contentOfKept(entry);
  if (content !== null) contents.drop(tx, content);
  tx.delete(entry.key);
}

/** It was there from its own stamp on until behind that of the snapshot for which it was kept. */
function isShownBy({ key: kept, value }: Entry, snapshots: readonly Stamp[]): boolean {
  const from = sinceOf(value);
  const until = stampOfKept(kept);
  return snapshots.some((stamp) => from <= stamp && stamp <= until);
}
