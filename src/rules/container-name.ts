import type { FaultCode } from "../base/fault.ts";
import { CONTAINER_NAME_CHARS_MAX, CONTAINER_NAME_CHARS_MIN } from "../base/limits.ts";

/** Containers that the service itself gives a meaning. */
const SPECIAL_NAMES = ["$root", "$web", "$logs", "$blobchangefeed"];
/** Lower-case letters and digits, with single dashes between them. */
const ORDINARY_NAME = /^[a-z0-9](?:-?[a-z0-9])*$/;

export function refuseContainerName(name: string): FaultCode | null {
  if (SPECIAL_NAMES.includes(name)) return null;
  if (name.length < CONTAINER_NAME_CHARS_MIN || name.length > CONTAINER_NAME_CHARS_MAX) {
    return "OutOfRangeInput";
  }
  return ORDINARY_NAME.test(name) ? null : "InvalidResourceName";
}

/** Listed only for who asks for system containers. */
export function isSystemContainer(name: string): boolean {
  return name === "$logs" || name === "$blobchangefeed";
}
