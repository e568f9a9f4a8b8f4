import type { Bytes } from "../../base/bytes.ts";
import type { Space } from "../../base/keys.ts";
import type { Content } from "../../store/content.ts";
import type { View } from "../../store/store.ts";

/**
 * A service's knowledge of its records, for reports of damage and for the command that verifies a
 * data folder.
 */
export interface StoredObjects {
  readonly spaces: readonly Space[];
  /** The name, for users, of the object that a record belongs to. The record may be gone. */
  nameOf(view: View, key: Bytes): string;
  /** The content that a record refers to; null if it has none. */
  contentOf(key: Bytes, value: Bytes): Content | null;
}

/** Formats an object's name for reports. Names may contain any character, line ends included. */
export function objectName(kind: string, ...names: readonly string[]): string {
  return `${kind} ${JSON.stringify(names.join("/"))}`;
}
