import type { FaultCode } from "../base/fault.ts";
import { MESSAGE_TEXT_BYTES_MAX } from "../base/limits.ts";

/** The text itself counts, not its spelling in the request. */
export function judgeMessageText(text: string): FaultCode | null {
  return Buffer.byteLength(text, "utf8") > MESSAGE_TEXT_BYTES_MAX ? "RequestBodyTooLarge" : null;
}
