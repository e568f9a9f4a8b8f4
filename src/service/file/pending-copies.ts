import type { Bytes } from "../../base/bytes.ts";
import { added, count, format, type RecordOf, text, u64 } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ShareName } from "./records.ts";

/** The target of a copy. A file's id is never reused, even in another share of this name. */
const placeShape = {
  account: text,
  share: text,
  file: u64,
  /** The front end that copies; 0 if there is only one. */
  frontEnd: added(count, 0),
};

export type CopyPlace = Readonly<RecordOf<typeof placeShape>>;

const placeFormat = format(1, placeShape);

/** Records a pending copy, so that a restart finds copies that were interrupted. */
export function writePendingCopy(tx: Transaction, id: string, place: CopyPlace): void {
  tx.set(key(SPACE.pendingFileCopy, id), placeFormat.encode(place));
}

export function deletePendingCopy(tx: Transaction, id: string): void {
  tx.delete(key(SPACE.pendingFileCopy, id));
}

export function readPendingCopy(view: View, id: string): CopyPlace | null {
  const found = view.get(key(SPACE.pendingFileCopy, id));
  return found === undefined ? null : placeFormat.decode(found);
}

export function decodePendingCopy(found: Bytes): CopyPlace {
  return placeFormat.decode(found);
}

/** Moves the copies of a share that is restored under another name. */
export function movePendingCopies(
  tx: Transaction,
  from: ShareName,
  to: ShareName,
  isIn: (file: bigint) => boolean,
): void {
  for (const [id, place] of readPendingCopies(tx, Infinity)) {
    const { account, share, file } = place;
    const isFrom = account === from.account && share === from.share;
    if (isFrom && isIn(file)) writePendingCopy(tx, id, { ...place, share: to.share });
  }
}

/** Up to `limit` pending copies with their ids, which sort behind `after`. */
export function readPendingCopies(
  view: View,
  limit: number,
  after = "",
): [id: string, place: CopyPlace][] {
  const all = key(SPACE.pendingFileCopy);
  const from = after === "" ? all : keyAfter(key(SPACE.pendingFileCopy, after));
  return view.range(from, keyAfter(all), { limit }).map((entry) => {
    return [new KeyReader(entry.key).text(), placeFormat.decode(entry.value)];
  });
}
