import { count, flag, format, type RecordOf } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import type { Transaction, View } from "../../store/store.ts";

/**
 * How long deleted objects of a service can be restored. Clients set it with the service's other
 * properties; it has its own record because every deletion reads it.
 */
const retentionShape = {
  days: count,
  /** Whether clients may delete for good before the retention period ends. */
  allowsPermanentDelete: flag,
};

export type DeleteRetention = Readonly<RecordOf<typeof retentionShape>>;

const retentionFormat = format(1, retentionShape);

/** Null if soft delete is off. */
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
