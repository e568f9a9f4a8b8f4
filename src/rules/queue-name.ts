import type { FaultCode } from "../base/fault.ts";
import { QUEUE_NAME_CHARS_MAX, QUEUE_NAME_CHARS_MIN } from "../base/limits.ts";

/** Lower-case letters and digits, with single dashes between them. */
const NAME = /^[a-z0-9](?:-?[a-z0-9])*$/;

export function refuseQueueName(name: string): FaultCode | null {
  if (name.length < QUEUE_NAME_CHARS_MIN || name.length > QUEUE_NAME_CHARS_MAX) {
    return "OutOfRangeInput";
  }
  return NAME.test(name) ? null : "InvalidResourceName";
}
