import { count, flag, format, type RecordOf } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import type { Transaction, View } from "../../store/store.ts";

/**
 * For how long what is deleted can be had back: a property of a service that is set with the others,
 * but has a record of its own because every deletion looks at it.
 */
const retentionShape = {
  days: count,
  /** Whether clients may end it before its time. */
  allowsPermanentDelete: flag,
};

export type DeleteRetention = Readonly<RecordOf<typeof retentionShape>>;

const retentionFormat = format(1, retentionShape);

/** Null if deleted is deleted. */
export function readDeleteRetention(
  view: View,
  account: string,
  service: string,
): DeleteRetention | null {
  const found = view.get(key(SPACE.deleteRetention, account, service));
  return found === undefined ? null : retentionFormat.decode(found);
}

export function writeDeleteRetention(
  tx: Transaction,
  account: string,
  service: string,
  value: DeleteRetention | null,
): void {
  const at = key(SPACE.deleteRetention, account, service);
  if (value === null) tx.delete(at);
  else tx.set(at, retentionFormat.encode(value));
}
