import { SPACE } from "../../base/keys.ts";
import type { Content } from "../../store/content.ts";
import type { Entry } from "../../store/entry.ts";
import { spaceOfPreserved } from "./preserved-records.ts";
import { decodeFile } from "./tree-records.ts";

/** The content that a preserved record refers to; null if it is not a file's record. */
export function contentOfPreserved({ key, value }: Entry): Content | null {
  return spaceOfPreserved(key) === SPACE.file ? decodeFile(value).content : null;
}
