import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Contents } from "../../store/contents.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { ROUND_RECORDS_MAX, SweepRound } from "../shared/sweep-round.ts";
import type { FileContext } from "./context.ts";
import { ExpirySearch } from "./expiry-search.ts";
import { contentOfPreserved } from "./preserved-files.ts";
import { sinceOf, stampOfPreserved } from "./preserved-records.ts";
import { abandonShare, deletedShareOfEntry, snapshotsOf } from "./records.ts";
import { isDeletionOver } from "./share-deletions.ts";
import { decodeFile } from "./tree-records.ts";

/** Spaces whose keys begin with a share's id and whose records refer to no content. */
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
  SPACE.watchedShare,
];

/** How far the preserved records of a share have been searched, and the note that asked for it. */
interface Walk {
  readonly note: Entry;
  readonly from: Bytes;
}

/**
 * Removes records that nothing can reach any more: the items of deleted shares, and records
 * preserved for deleted snapshots. `Contents` frees the bytes.
 */
export class FileSweep {
  readonly #context: FileContext;
  #walk: Walk | null = null;
  /** The positions of the searches for expired records. */
  readonly #deletedShares = new ExpirySearch(SPACE.deletedShare, isExpired, abandonExpired);
  readonly #deletions = new ExpirySearch(SPACE.shareDeletion, isOver, forget);

  constructor(context: FileContext) {
    this.#context = context;
  }

  /**
   * Runs one round, which writes a bounded number of records. True while there may be more to do.
   */
  async sweep(): Promise<boolean> {
    const { store, contents } = this.#context;
    const isSearchingShares = await this.#deletedShares.search(store);
    const isSearching = (await this.#deletions.search(store)) || isSearchingShares;
    if (await store.read((view) => firstOf(view, SPACE.doomedShare) !== null)) {
      await store.transact((tx) => freeDoomed(tx, contents));
      return true;
    }
    if (await store.read((view) => firstOf(view, SPACE.thinnedShare) === null)) return isSearching;
    this.#walk = await store.transact((tx) => freePreserved(tx, contents, this.#walk));
    return true;
  }
}

function firstOf(view: View, space: Space): Entry | null {
  const all = key(space);
  return view.range(all, keyAfter(all), { limit: 1 })[0] ?? null;
}

/** Removes the records of one page that no snapshot shows. Returns how far it came. */
function freePreserved(tx: Transaction, contents: Contents, before: Walk | null): Walk | null {
  const note = firstOf(tx, SPACE.thinnedShare);
  if (note === null) return null;
  const share = new KeyReader(note.key).u64();
  const all = key(SPACE.preservedRecord, share);
  const goesOn = before?.note.key.equals(note.key) && before.note.value.equals(note.value);
  const from = goesOn === true && before !== null ? before.from : all;
  const page = tx.range(from, keyAfter(all), { limit: ROUND_RECORDS_MAX });
  const stamps = snapshotsOf(tx, share).map(({ stamp }) => stamp);
  contents.prefetchDrops(tx, () => page.flatMap((entry) => contentOfPreserved(entry) ?? []));
  for (const entry of page) if (!isShownBy(entry, stamps)) dropPreserved(tx, contents, entry);
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
  const round = new SweepRound(tx);
  const files = round.entries(key(SPACE.file, share));
  contents.prefetchDrops(tx, () => files.map(({ value }) => decodeFile(value).content));
  for (const entry of files) {
    contents.drop(tx, decodeFile(entry.value).content);
    tx.delete(entry.key);
  }
  const preserved = round.entries(key(SPACE.preservedRecord, share));
  contents.prefetchDrops(tx, () => preserved.flatMap((entry) => contentOfPreserved(entry) ?? []));
  for (const entry of preserved) dropPreserved(tx, contents, entry);
  for (const space of PLAIN_SPACES) round.remove(key(space, share));
  if (!round.isOver) tx.delete(doomed.key);
}

function dropPreserved(tx: Transaction, contents: Contents, entry: Entry): void {
  const content = contentOfPreserved(entry);
  if (content !== null) contents.drop(tx, content);
  tx.delete(entry.key);
}

/**
 * A preserved record is shown by the snapshots from its own stamp to the stamp it was preserved
 * for.
 */
function isShownBy({ key: preserved, value }: Entry, snapshots: readonly Stamp[]): boolean {
  const from = sinceOf(value);
  const until = stampOfPreserved(preserved);
  return snapshots.some((stamp) => from <= stamp && stamp <= until);
}
