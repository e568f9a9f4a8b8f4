import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { writeOpenFile, writeTaken } from "../../../service/file/write-open-file.ts";
import { afterCacheBreaks } from "../after-cache-breaks.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { readWriteData, readWriteHead, type WriteHead, writeWrite } from "../codec/write.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** A special offset: append at the end. */
const AT_END = 2 ** 64;
const OFFSET_MAX = 2 ** 63;

export async function handleWrite(call: Call): Promise<Answer> {
  const { message, bulk } = call;
  const head = readWriteHead(message);
  const data = bulk === null ? readWriteData(message, head) : NO_BYTES;
  const open = call.open(head.fileId);
  call.expectCharge(head.length);
  if (open.kind === "file") await writeFile(call, open, head, data);
  else await open.write(data);
  return success(writeWrite(head.length));
}

async function writeFile(
  call: Call,
  open: FileOpen,
  { offset, length }: WriteHead,
  data: Bytes,
): Promise<void> {
  if (open.isDirectory) throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  open.expect(ACCESS.writeData | ACCESS.appendData);
  const isAtEnd = offset === AT_END;
  if (!isAtEnd && offset + length > OFFSET_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
  const { files } = call.host;
  const { at, item, handle, epoch } = open.asked;
  const from = isAtEnd ? null : offset;
  const asked = { at, item, handle, epoch, from, bytes: data, preservesWritten: true };
  const taken = await call.bulk?.taken;
  await afterCacheBreaks(call, () =>
    taken === undefined ? writeOpenFile(files, asked) : writeTaken(files, asked, taken),
  );
  open.writeTime.wrote();
  if (!isAtEnd) open.position = BigInt(offset + length);
}
