import { getOpenItem } from "../../../service/file/get-open-item.ts";
import { type Answer, type Call, success } from "../call.ts";
import { shownItem } from "../codec/attributes.ts";
import { type ClosedFile, readClose, writeClose } from "../codec/close.ts";
import type { Open } from "../open.ts";

export async function handleClose(call: Call): Promise<Answer> {
  const { fileId, wantsAttributes } = readClose(call.message);
  const open = call.open(fileId);
  const closed = wantsAttributes ? await lastLook(call, open) : null;
  await call.session.closeOpen(open, 1);
  return success(writeClose(closed));
}

async function lastLook({ server }: Call, open: Open): Promise<ClosedFile | null> {
  if (open.kind !== "file") return null;
  const { item, isDirectory } = await getOpenItem(server.options.files, open.asked);
  return shownItem(item, isDirectory);
}
