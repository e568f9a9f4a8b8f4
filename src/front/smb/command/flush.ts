import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { writeEmpty } from "../codec/empty.ts";
import { readFlush } from "../codec/flush.ts";

/** Updates the last-write time. Writes are durable before they are answered, and need no flush. */
export async function handleFlush(call: Call): Promise<Answer> {
  const open = call.open(readFlush(call.message));
  if (open.kind === "file") {
    open.expect(ACCESS.writeData | ACCESS.appendData);
    await open.writeTime.flush();
  }
  return success(writeEmpty());
}
