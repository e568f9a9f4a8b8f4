import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Transaction, View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import type { ContainerAddress } from "./context.ts";
import {
  type Container,
  type DeletedContainer,
  decodeDeletedContainer,
  deletedContainerKey,
  encodeDeletedContainer,
} from "./records.ts";
import { expiryKey, NO_VALUE } from "./revision-records.ts";

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

/** Null if there is none, or its retention has ended. */
export function readDeletedContainer(
  view: View,
  at: ContainerAddress,
  version: Stamp,
): DeletedContainer | null {
  const found = view.get(deletedContainerKey(at, version));
  const deleted = found === undefined ? null : decodeDeletedContainer(found);
  return deleted === null || deleted.untilMs <= view.now() ? null : deleted;
}

/** The deleted containers of this name that can still be restored, oldest deletion first. */
export function* restorableContainers(view: View, at: ContainerAddress): Generator<Container> {
  const all = key(SPACE.deletedContainer, at.account, at.container);
  const cursor = new EntryCursor(view, all, keyAfter(all), true);
  for (let entry = cursor.head(Infinity); entry !== null; entry = cursor.head(Infinity)) {
    const { container, untilMs } = decodeDeletedContainer(entry.value);
    if (untilMs > view.now()) yield container;
    cursor.advance();
  }
}
