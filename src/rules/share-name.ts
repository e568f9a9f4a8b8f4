import type { FaultCode } from "../base/fault.ts";
import { SHARE_NAME_CHARS_MAX, SHARE_NAME_CHARS_MIN } from "../base/limits.ts";

/** Lower-case letters and digits, with single dashes between them. */
const NAME = /^[a-z0-9](?:-?[a-z0-9])*$/;

export function refuseShareName(name: string): FaultCode | null {
  if (name.length < SHARE_NAME_CHARS_MIN || name.length > SHARE_NAME_CHARS_MAX) {
    return "OutOfRangeInput";
  }
  return NAME.test(name) ? null : "InvalidResourceName";
}
