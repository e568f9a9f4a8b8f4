import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, key, SPACE } from "../../base/keys.ts";
import type { Tags } from "../../rules/tags.ts";
import type { Transaction } from "../../store/store.ts";
import type { ContainerId, Place } from "./records.ts";

/** The tag index: one entry per tag of a current blob, ordered by tag name, value and blob. */

const NOTHING = Buffer.alloc(0);

/** Updates the index. Call it whenever a current blob is created, changed or deleted. */
export function indexTags(
  tx: Transaction,
  { parent, name }: Place,
  before: Tags,
  after: Tags,
): void {
  if (before === after) return;
  for (const tag of before) {
    if (!includes(after, tag)) tx.delete(taggedBlobKey(parent, tag[0], tag[1], name));
  }
  for (const tag of after) {
    if (!includes(before, tag)) tx.set(taggedBlobKey(parent, tag[0], tag[1], name), NOTHING);
  }
}

function includes(tags: Tags, [name, value]: Tags[number]): boolean {
  return tags.some((tag) => tag[0] === name && tag[1] === value);
}

export function tagKey({ id }: ContainerId, name: string): Bytes {
  return key(SPACE.blobTag, id, name);
}

export function tagValueKey({ id }: ContainerId, name: string, value: string): Bytes {
  return key(SPACE.blobTag, id, name, value);
}

export function taggedBlobKey(
  { id }: ContainerId,
  name: string,
  value: string,
  blob: string,
): Bytes {
  return key(SPACE.blobTag, id, name, value, blob);
}

export function readTaggedBlobKey(found: Bytes): { value: string; blob: string } {
  const parts = new KeyReader(found);
  parts.u64();
  parts.text();
  return { value: parts.text(), blob: parts.text() };
}
