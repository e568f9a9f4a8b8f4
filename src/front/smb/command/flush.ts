import { type Answer, type Call, success } from "../call.ts";
import { writeEmpty } from "../codec/empty.ts";
import { readFlush } from "../codec/flush.ts";

/** What is written to a pipe is never kept, so there is nothing to flush. */
export function handleFlush(call: Call): Answer {
  call.open(readFlush(call.message));
  return success(writeEmpty());
}
