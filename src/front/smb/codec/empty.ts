import type { Bytes } from "../../../base/bytes.ts";
import { bodyOf } from "./wire.ts";

const STRUCTURE_SIZE = 4;
const EMPTY = Buffer.from([STRUCTURE_SIZE, 0, 0, 0]);

/** ECHO, LOGOFF and TREE_DISCONNECT say nothing beyond their name. */
export function readEmpty(message: Bytes): void {
  bodyOf(message, STRUCTURE_SIZE);
}

/** Their answers, and those to FLUSH and LOCK. */
export function writeEmpty(): Bytes {
  return EMPTY;
}

const ERROR = Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0]);

/** What stands behind the header of a refusal. */
export function writeError(): Bytes {
  return ERROR;
}
