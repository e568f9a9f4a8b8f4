import type { FaultCode } from "../base/fault.ts";
import { MESSAGE_TEXT_BYTES_MAX } from "../base/limits.ts";

/** Judges the text itself, not its encoding in the request. */
export function judgeMessageText(text: string): FaultCode | null {
  return Buffer.byteLength(text, "utf8") > MESSAGE_TEXT_BYTES_MAX ? "RequestBodyTooLarge" : null;
}
