import { writeOpenFile } from "../../../service/file/write-open-file.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { readWrite, type WriteRequest, writeWrite } from "../codec/write.ts";
import type { FileOpen } from "../file-open.ts";
import { makingWay } from "../making-way.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** Instead of an offset: behind what is there. */
const AT_END = 2 ** 64;
const OFFSET_MAX = 2 ** 63;

export async function handleWrite(call: Call): Promise<Answer> {
  const request = readWrite(call.message);
  const open = call.open(request.fileId);
  const { data } = request;
  call.expectCharge(data.length);
  if (open.kind === "file") await writeFile(call, open, request);
  else await open.write(data);
  return success(writeWrite(data.length));
}

async function writeFile(
  call: Call,
  open: FileOpen,
  { offset, data }: WriteRequest,
): Promise<void> {
  if (open.isDirectory) throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  open.expect(ACCESS.writeData | ACCESS.appendData);
  const isAtEnd = offset === AT_END;
  if (!isAtEnd && offset + data.length > OFFSET_MAX) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  const from = isAtEnd ? null : offset;
  const { at, item, handle } = open.asked;
  const asked = { at, item, handle, from, bytes: data, preservesWritten: true };
  await makingWay(call, () => writeOpenFile(call.server.options.files, asked));
  open.writeTime.wrote();
  if (!isAtEnd) open.position = BigInt(offset + data.length);
}
