import { randomUUID } from "node:crypto";

/** Everything but the last group of a GUID is drawn once for the process; that group counts. */
const PREFIX = randomUUID().slice(0, 24);
const COUNT_DIGITS = 12;

let count = 0;

export function nextRequestId(): string {
  return PREFIX + (++count).toString(16).padStart(COUNT_DIGITS, "0");
}
