import type { Bytes } from "../../base/bytes.ts";
import type { Space } from "../../base/keys.ts";
import type { Content } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";

/** What a service knows about its records: for reports of damage, and for who checks all of them. */
export interface StoredObjects {
  readonly spaces: readonly Space[];
  /** The object that a record of these spaces belongs to, as users know it. The record may be gone. */
  nameOf(view: View, key: Bytes): string;
  /** The bytes that a record refers to; null if it has none. */
  contentOf(key: Bytes, value: Bytes): Content | null;
}

/** How an object is named in reports: names may hold anything, line ends too. */
export function objectName(kind: string, ...names: readonly string[]): string {
  return `${kind} ${JSON.stringify(names.join("/"))}`;
}
