import { SPACE } from "../../base/keys.ts";
import type { Content } from "../../store/contents.ts";
import type { Entry } from "../../store/store.ts";
import { spaceOfKept } from "./kept-records.ts";
import { decodeFile } from "./tree-records.ts";

/** The content that a kept record refers to; null if it is none of a file. */
export function contentOfKept({ key, value }: Entry): Content | null {
  return spaceOfKept(key) === SPACE.file ? decodeFile(value).content : null;
}
