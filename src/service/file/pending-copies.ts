import { format, type RecordOf, text, u64 } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Transaction, View } from "../../store/store.ts";

/** Where a copy goes: ids of files are never used again, in whatever share of this name. */
const placeShape = { account: text, share: text, file: u64 };

export type CopyPlace = Readonly<RecordOf<typeof placeShape>>;

const placeFormat = format(1, placeShape);

/** So that copies which a stop of the server interrupted are found. */
export function writePendingCopy(tx: Transaction, id: string, place: CopyPlace): void {
  tx.set(key(SPACE.pendingFileCopy, id), placeFormat.encode(place));
}

export function deletePendingCopy(tx: Transaction, id: string): void {
  tx.delete(key(SPACE.pendingFileCopy, id));
}

/** The first of them, with the ids of the copies. */
export function readPendingCopies(view: View, limit: number): [id: string, place: CopyPlace][] {
  const all = key(SPACE.pendingFileCopy);
  return view.range(all, keyAfter(all), { limit }).map((entry) => {
    return [new KeyReader(entry.key).text(), placeFormat.decode(entry.value)];
  });
}
