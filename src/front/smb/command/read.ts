import type { Answer, Call } from "../call.ts";
import { readRead, writeReadHead } from "../codec/read.ts";
import { STATUS } from "../nt-status.ts";

export function handleRead(call: Call): Answer {
  const { fileId, length } = readRead(call.message);
  const open = call.open(fileId);
  call.expectCharge(length);
  const { bytes, hasMore } = open.read(length);
  const status = hasMore ? STATUS.BUFFER_OVERFLOW : STATUS.SUCCESS;
  return { status, body: [writeReadHead(bytes.length), bytes] };
}
