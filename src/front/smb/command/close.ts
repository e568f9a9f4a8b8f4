import { type Answer, type Call, success } from "../call.ts";
import { readClose, writeClose } from "../codec/close.ts";

export async function handleClose(call: Call): Promise<Answer> {
  const { fileId } = readClose(call.message);
  await call.session.closeOpen(call.open(fileId));
  return success(writeClose(null));
}
