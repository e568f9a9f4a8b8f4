import type { Bytes } from "../../../base/bytes.ts";
import { bodyOf } from "./wire.ts";

const STRUCTURE_SIZE = 4;
const EMPTY = Buffer.from([STRUCTURE_SIZE, 0, 0, 0]);

/** Reads the empty body of ECHO, LOGOFF and TREE_DISCONNECT. */
export function readEmpty(message: Bytes): void {
  bodyOf(message, STRUCTURE_SIZE);
}

/** The body of their responses, and of those to FLUSH and LOCK. */
export function writeEmpty(): Bytes {
  return EMPTY;
}

const ERROR = Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0]);

/** The body of a refusal. */
export function writeError(): Bytes {
  return ERROR;
}
