import type { Bytes } from "../../../base/bytes.ts";
import { readU64 } from "./wire.ts";

/** The id of an open. */
export interface FileId {
  readonly persistent: number;
  readonly volatile: number;
}

const ALL_ONES = 2 ** 64;

export function readFileId(bytes: Bytes, at: number): FileId {
  return { persistent: readU64(bytes, at), volatile: readU64(bytes, at + 8) };
}

/** Whether the id means the open of the previous request in a compound. */
export function isFileIdBefore({ persistent, volatile }: FileId): boolean {
  return persistent === ALL_ONES && volatile === ALL_ONES;
}
