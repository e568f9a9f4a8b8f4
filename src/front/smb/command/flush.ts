import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { writeEmpty } from "../codec/empty.ts";
import { readFlush } from "../codec/flush.ts";

/** Every write is on the disk before it is answered, so there is nothing left to flush. */
export function handleFlush(call: Call): Answer {
  const open = call.open(readFlush(call.message));
  if (open.kind === "file") open.expect(ACCESS.writeData | ACCESS.appendData);
  return success(writeEmpty());
}
