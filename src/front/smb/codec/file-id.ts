import type { Bytes } from "../../../base/bytes.ts";
import { readU64 } from "./wire.ts";

/** What a client names an open by. */
export interface FileId {
  readonly persistent: number;
  readonly volatile: number;
}

const ALL_ONES = 2 ** 64;

export function readFileId(bytes: Bytes, at: number): FileId {
  return { persistent: readU64(bytes, at), volatile: readU64(bytes, at + 8) };
}

/** In a compound: the open that the request before worked on. */
export function isFileIdBefore({ persistent, volatile }: FileId): boolean {
  return persistent === ALL_ONES && volatile === ALL_ONES;
}
