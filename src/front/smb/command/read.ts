import type { Bytes } from "../../../base/bytes.ts";
import { readOpenFile } from "../../../service/file/read-open-file.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { READ_DATA_AT, type ReadRequest, readRead, writeReadHead } from "../codec/read.ts";
import { HEADER_BYTES } from "../codec/wire.ts";
import type { FileOpen } from "../file-open.ts";
import { newMessage } from "../frame-memory.ts";
import { STATUS, StatusError } from "../nt-status.ts";

const OFFSET_MAX = 2 ** 63;

export async function handleRead(call: Call): Promise<Answer> {
  const request = readRead(call.message);
  const open = call.open(request.fileId);
  call.expectCharge(request.length);
  if (open.kind === "file") return await readFile(call, open, request);
  const { bytes, hasMore } = open.read(request.length);
  const status = hasMore ? STATUS.BUFFER_OVERFLOW : STATUS.SUCCESS;
  return { status, body: [writeReadHead(bytes.length), bytes] };
}

async function readFile({ server }: Call, open: FileOpen, request: ReadRequest): Promise<Answer> {
  const { offset: from, length, lengthMin } = request;
  if (open.isDirectory) throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  open.expect(ACCESS.readData | ACCESS.execute);
  if (from + length > OFFSET_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
  let placed: Bytes | null = null;
  const room = (bytes: number): Bytes => {
    placed = newMessage(READ_DATA_AT + bytes);
    return placed.subarray(READ_DATA_AT);
  };
  const { at, item, handle } = open.asked;
  const asked = { at, item, handle, from, length };
  const bytes = await readOpenFile(server.options.files, asked, room);
  const isEnough = bytes !== null && bytes.length >= lengthMin;
  if (!isEnough && (length > 0 || lengthMin > 0)) throw new StatusError(STATUS.END_OF_FILE);
  const found = bytes ?? Buffer.alloc(0);
  open.position = BigInt(from + found.length);
  return readAnswer(writeReadHead(found.length), found, placed);
}

/** Without copying the data, where it was read into the message. */
function readAnswer(head: Bytes, data: Bytes, placed: Bytes | null): Answer {
  if (placed === null) return success(head, data);
  head.copy(placed, HEADER_BYTES);
  return { status: STATUS.SUCCESS, body: [], placed };
}
