import type { Stamp } from "../../base/stamp.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ContainerAddress } from "./context.ts";
import {
  type DeletedContainer,
  decodeDeletedContainer,
  deletedContainerKey,
  encodeDeletedContainer,
} from "./records.ts";
import { expiryKey, NO_VALUE } from "./state-records.ts";

export function writeDeletedContainer(
  tx: Transaction,
  at: ContainerAddress,
  version: Stamp,
  value: DeletedContainer,
): void {
  const found = deletedContainerKey(at, version);
  tx.set(found, encodeDeletedContainer(value));
  tx.set(expiryKey(value.untilMs, found), NO_VALUE);
}

export function deleteDeletedContainer(
  tx: Transaction,
  at: ContainerAddress,
  version: Stamp,
  value: DeletedContainer,
): void {
  const found = deletedContainerKey(at, version);
  tx.delete(found);
  tx.delete(expiryKey(value.untilMs, found));
}

/** Null if it is not there or not any more. */
export function readDeletedContainer(
  view: View,
  at: ContainerAddress,
  version: Stamp,
): DeletedContainer | null {
  const found = view.get(deletedContainerKey(at, version));
  const deleted = found === undefined ? null : decodeDeletedContainer(found);
  return deleted === null || deleted.untilMs <= view.now() ? null : deleted;
}
