import { type Answer, type Call, success } from "../call.ts";
import { readEmpty, writeEmpty } from "../codec/empty.ts";

export function handleEcho(call: Call): Answer {
  readEmpty(call.message);
  return success(writeEmpty());
}
