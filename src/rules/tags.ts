import type { FaultCode } from "../base/fault.ts";
import { TAG_NAME_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX } from "../base/limits.ts";

/** The tags of a blob: names with values. */
export type Tags = readonly (readonly [name: string, value: string])[];

export const NO_TAGS: Tags = [];

const TEXT = /^[a-zA-Z0-9 +\-./:=_]*$/;

export function judgeTags(tags: Tags): FaultCode | null {
  if (tags.length > TAGS_MAX) return "TagsTooLarge";
  const names = new Set<string>();
  for (const [name, value] of tags) {
    if (name === "") return "EmptyTagName";
    if (name.length > TAG_NAME_CHARS_MAX || value.length > TAG_VALUE_CHARS_MAX) return "InvalidTag";
    if (!TEXT.test(name) || !TEXT.test(value)) return "InvalidTag";
    if (names.has(name)) return "DuplicateTagNames";
    names.add(name);
  }
  return null;
}
