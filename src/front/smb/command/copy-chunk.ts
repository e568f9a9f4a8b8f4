import { copyAndRelease } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { fairQueue } from "../../../base/fair-queue.ts";
import { MIB } from "../../../base/limits.ts";
import { readOpenFile } from "../../../service/file/read-open-file.ts";
import { writeOpenFile } from "../../../service/file/write-open-file.ts";
import { afterCacheBreaks } from "../after-cache-breaks.ts";
import { type Answer, answered, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import {
  type Chunk,
  RESUME_KEY_BYTES,
  readCopyChunks,
  writeCopied,
  writeResumeKey,
} from "../codec/copy-chunk.ts";
import { CONTROL, type IoctlRequest, writeIoctl } from "../codec/ioctl.ts";
import { writeU64 } from "../codec/wire.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { Session } from "../session.ts";

const CHUNKS_MAX = 256;
const CHUNK_BYTES_MAX = 1 * MIB;
const COPY_BYTES_MAX = 16 * MIB;
const RESUME_KEY_ANSWER_BYTES = 32;

/** Returns a key for an open file, with which the same client can copy from it. */
export function requestResumeKey(call: Call, request: IoctlRequest): Answer {
  const open = fileOpen(call, request);
  if (request.outputBytesMax < RESUME_KEY_ANSWER_BYTES) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return success(writeIoctl(request, writeResumeKey(resumeKeyOf(open))));
}

/** Copies within the server. A request beyond the limits is refused, with the limits. */
export async function copyChunks(call: Call, request: IoctlRequest): Promise<Answer> {
  const target = fileOpen(call, request);
  const { resumeKey, chunks } = readCopyChunks(request.input);
  const source = openByKey(call.session, resumeKey);
  if (source === null) throw new StatusError(STATUS.OBJECT_NAME_NOT_FOUND);
  target.expect(ACCESS.writeData | ACCESS.appendData);
  if (request.code === CONTROL.copyChunk) target.expect(ACCESS.readData);
  source.expect(ACCESS.readData | ACCESS.execute);
  if (isTooMuch(chunks)) {
    const limits = writeCopied(CHUNKS_MAX, CHUNK_BYTES_MAX, COPY_BYTES_MAX);
    return answered(STATUS.INVALID_PARAMETER, [writeIoctl(request, limits)]);
  }
  let copied = 0;
  for (const chunk of chunks) {
    await fairQueue.next();
    copied += await copyChunk(call, source, target, chunk);
  }
  return success(writeIoctl(request, writeCopied(chunks.length, 0, copied)));
}

async function copyChunk(
  call: Call,
  source: FileOpen,
  target: FileOpen,
  { from, to, length }: Chunk,
): Promise<number> {
  const { files } = call.host;
  const borrowed = await readOpenFile(files, { ...source.asked, from, length, ahead: null });
  const bytes = borrowed === null ? null : copyAndRelease(borrowed);
  // A chunk that extends beyond the end is not copied, not even in part.
  if (bytes?.length !== length) throw new StatusError(STATUS.INVALID_VIEW_SIZE);
  const written = { ...target.asked, from: to, bytes, preservesWritten: true };
  await afterCacheBreaks(call, () => writeOpenFile(files, written));
  target.writeTime.wrote();
  return length;
}

function isTooMuch(chunks: readonly Chunk[]): boolean {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const isLong = ({ length }: Chunk) => length === 0 || length > CHUNK_BYTES_MAX;
  return chunks.length > CHUNKS_MAX || total > COPY_BYTES_MAX || chunks.some(isLong);
}

function fileOpen(call: Call, { fileId }: IoctlRequest): FileOpen {
  const open = call.open(fileId);
  if (open.kind !== "file" || open.isDirectory) {
    throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  }
  return open;
}

function resumeKeyOf({ fileId }: FileOpen): Bytes {
  const key = Buffer.alloc(RESUME_KEY_BYTES);
  writeU64(key, 0, fileId.persistent);
  writeU64(key, 8, fileId.volatile);
  return key;
}

function openByKey(session: Session, key: Bytes): FileOpen | null {
  for (const open of session.opens.values()) {
    if (open.kind === "file" && resumeKeyOf(open).equals(key)) return open;
  }
  return null;
}
