import type { FaultCode } from "../base/fault.ts";
import { DASHED_NAME_CHARS_MAX, DASHED_NAME_CHARS_MIN } from "../base/limits.ts";

const DASHED_NAME = /^[a-z0-9](?:-?[a-z0-9])*$/;

export const DASHED_NAME_RULE =
  `The name of a container, queue or share has ${DASHED_NAME_CHARS_MIN} to ${DASHED_NAME_CHARS_MAX} ` +
  "lower-case letters and digits, with single dashes between them.";

/** Judges the name of a container, queue or share. */
export function judgeDashedName(name: string): FaultCode | null {
  if (name.length < DASHED_NAME_CHARS_MIN || name.length > DASHED_NAME_CHARS_MAX) {
    return "ResourceNameLength";
  }
  return DASHED_NAME.test(name) ? null : "InvalidResourceName";
}
