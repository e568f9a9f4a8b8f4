import type { FaultCode } from "../base/fault.ts";
import { TAG_NAME_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX } from "../base/limits.ts";

/** The tags of a blob: names with values. */
export type Tags = readonly (readonly [name: string, value: string])[];

export const NO_TAGS: Tags = [];

export const TAGS_RULE =
  `A blob has up to ${TAGS_MAX} tags. A name has 1 to ${TAG_NAME_CHARS_MAX} and a value up to ` +
  `${TAG_VALUE_CHARS_MAX} letters, digits, spaces or + - . / : = _.`;

/** Matches a character that neither the name nor the value of a tag may contain. */
export const NOT_IN_TAGS = /[^a-zA-Z0-9 +\-./:=_]/u;

export function judgeTags(tags: Tags): FaultCode | null {
  if (tags.length > TAGS_MAX) return "TagsTooLarge";
  const names = new Set<string>();
  for (const [name, value] of tags) {
    if (name === "") return "EmptyTagName";
    if (name.length > TAG_NAME_CHARS_MAX || value.length > TAG_VALUE_CHARS_MAX) return "InvalidTag";
    if (NOT_IN_TAGS.test(name) || NOT_IN_TAGS.test(value)) return "InvalidTag";
    if (names.has(name)) return "DuplicateTagNames";
    names.add(name);
  }
  return null;
}
