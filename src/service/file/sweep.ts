import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import type { Contents } from "../../store/contents.ts";
import type { Entry, Transaction, View } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import { contentOfKept } from "./kept-files.ts";
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
];

/** Removes what deleted shares held. Their bytes are freed by `Contents`. */
export class FileSweep {
  readonly #context: FileContext;

  constructor(context: FileContext) {
    this.#context = context;
  }

  /** One round, which writes to a bounded number of records; true while there may be more to do. */
  async sweep(): Promise<boolean> {
    const { store, contents } = this.#context;
    if (!(await store.read((view) => firstDoomed(view) !== null))) return false;
    await store.transact((tx) => freeDoomed(tx, contents));
    return true;
  }
}

function firstDoomed(view: View): Entry | null {
  const all = key(SPACE.doomedShare);
  return view.range(all, keyAfter(all), { limit: 1 })[0] ?? null;
}

function freeDoomed(tx: Transaction, contents: Contents): void {
  const doomed = firstDoomed(tx);
  if (doomed === null) return;
  const share = new KeyReader(doomed.key).u64();
  let room = ROUND_RECORDS_MAX;
  const free = (space: Space, drop: (entry: Entry) => void) => {
    const all = key(space, share);
    for (const entry of room === 0 ? [] : tx.range(all, keyAfter(all), { limit: room })) {
      drop(entry);
      tx.delete(entry.key);
      room--;
    }
  };
  free(SPACE.file, (entry) => contents.drop(tx, decodeFile(entry.value).content));
  free(SPACE.keptRecord, (entry) => {
    const content = contentOfKept(entry);
    if (content !== null) contents.drop(tx, content);
  });
  for (const space of PLAIN_SPACES) free(space, () => {});
  if (room > 0) tx.delete(doomed.key);
}
