import { lengthOf, unowned } from "../../../base/borrowed-buffer.ts";
import { readOpenFile } from "../../../service/file/read-open-file.ts";
import { type Answer, answered, type Call } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { type ReadRequest, readRead, writeReadHead } from "../codec/read.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";

const OFFSET_MAX = 2 ** 63;
const NOTHING = unowned([]);

export async function handleRead(call: Call): Promise<Answer> {
  const request = readRead(call.message);
  const open = call.open(request.fileId);
  call.expectCharge(request.length);
  if (open.kind === "file") return await readFile(call, open, request);
  const { bytes, hasMore } = open.read(request.length);
  const status = hasMore ? STATUS.BUFFER_OVERFLOW : STATUS.SUCCESS;
  return answered(status, [writeReadHead(bytes.length), bytes]);
}

async function readFile(call: Call, open: FileOpen, request: ReadRequest): Promise<Answer> {
  const { offset: from, length, lengthMin } = request;
  if (open.isDirectory) throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  open.expect(ACCESS.readData | ACCESS.execute);
  if (from + length > OFFSET_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
  const { at, item, handle, epoch } = open.asked;
  const asked = { at, item, handle, epoch, from, length, ahead: open.ahead };
  const share = await call.share(length);
  try {
    const borrowed = (await readOpenFile(call.host.files, asked)) ?? NOTHING;
    const bytes = lengthOf(borrowed.parts);
    if (bytes < lengthMin || (bytes === 0 && length > 0)) {
      borrowed.release();
      throw new StatusError(STATUS.END_OF_FILE);
    }
    open.position = BigInt(from + bytes);
    return answered(STATUS.SUCCESS, [writeReadHead(bytes)], { borrowed, share });
  } catch (error) {
    share.release();
    throw error;
  }
}
