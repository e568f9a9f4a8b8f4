import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { STORED_BLOBS } from "../service/blob/stored-blobs.ts";
import { STORED_FILES } from "../service/file/stored-files.ts";
import { STORED_MESSAGES } from "../service/queue/stored-messages.ts";
import type { StoredObjects } from "../service/shared/stored-objects.ts";
import { STORED_ENTITIES } from "../service/table/stored-entities.ts";
import type { Content } from "../store/content.ts";
import type { View } from "../store/store.ts";

const ALL: readonly StoredObjects[] = [
  STORED_BLOBS,
  STORED_MESSAGES,
  STORED_ENTITIES,
  STORED_FILES,
];
const BY_SPACE: ReadonlyMap<number, StoredObjects> = new Map(
  ALL.flatMap((objects) => objects.spaces.map((at) => [at as number, objects])),
);
const SPACE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(SPACE).map(([name, space]) => [space as number, name]),
);

/** The name, for users, of the object that a record belongs to. */
export function nameOfRecord(view: View, key: Bytes): string {
  try {
    const name = BY_SPACE.get(key[0] as number)?.nameOf(view, key);
    if (name !== undefined) return name;
  } catch {
    // A damaged key may not be a key at all.
  }
  const kind = SPACE_NAMES.get(key[0] as number) ?? "unknown";
  return `internal record (${kind}) ${key.toString("hex")}`;
}

/** The bytes that a record refers to; null if it has none. */
export function contentOfRecord(key: Bytes, value: Bytes): Content | null {
  return BY_SPACE.get(key[0] as number)?.contentOf(key, value) ?? null;
}
