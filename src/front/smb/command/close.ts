import { type Answer, type Call, success } from "../call.ts";
import { shownItem } from "../codec/attributes.ts";
import { type ClosedFile, readClose, writeClose } from "../codec/close.ts";
import type { Open } from "../open.ts";

export async function handleClose(call: Call): Promise<Answer> {
  const { fileId, wantsAttributes } = readClose(call.message);
  const open = call.open(fileId);
  await call.session.closeOpen(open, 1);
  return success(writeClose(wantsAttributes ? lastLook(open) : null));
}

function lastLook(open: Open): ClosedFile | null {
  if (open.kind !== "file" || open.closed === null) return null;
  return shownItem(open.closed.item, open.closed.isDirectory);
}
