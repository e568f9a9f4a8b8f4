import { randomUUID } from "node:crypto";

/** A GUID's first four groups are random, once for each process; the last group counts requests. */
const PREFIX = randomUUID().slice(0, 24);
const COUNT_DIGITS = 12;

let count = 0;

export function nextRequestId(): string {
  return PREFIX + (++count).toString(16).padStart(COUNT_DIGITS, "0");
}
