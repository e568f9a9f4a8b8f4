import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { alignedTo, bodyOf, Writer } from "./wire.ts";

export interface ChangeNotifyRequest {
  readonly fileId: FileId;
  readonly recursive: boolean;
  readonly filter: number;
  readonly outputBytesMax: number;
}

const STRUCTURE_SIZE = 32;
const FLAG_TREE = 1;

export function readChangeNotify(message: Bytes): ChangeNotifyRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 8),
    recursive: (body.readUInt16LE(2) & FLAG_TREE) !== 0,
    filter: body.readUInt32LE(24),
    outputBytesMax: body.readUInt32LE(4),
  };
}

/** Kinds of changes, as the bits of a filter. */
export const NOTIFY = {
  fileName: 0x001,
  directoryName: 0x002,
  attributes: 0x004,
  size: 0x008,
  lastWrite: 0x010,
  lastAccess: 0x020,
  creation: 0x040,
  extendedAttributes: 0x080,
  security: 0x100,
} as const;

export const NOTICE = { added: 1, removed: 2, modified: 3, oldName: 4, newName: 5 } as const;

/** One entry of a response: a change and a name. */
export interface Notice {
  readonly action: (typeof NOTICE)[keyof typeof NOTICE];
  /** Relative to the watched directory. */
  readonly name: string;
}

const NOTICE_FIXED_BYTES = 12;

/** The bytes of a notice, with the padding up to the next one. */
export function noticeBytes({ name }: Notice): number {
  return alignedTo(NOTICE_FIXED_BYTES + name.length * 2, 4);
}

export function writeNotices(notices: readonly Notice[]): Bytes {
  const to = new Writer();
  for (const [index, notice] of notices.entries()) {
    const isLast = index === notices.length - 1;
    to.u32(isLast ? 0 : noticeBytes(notice));
    to.u32(notice.action)
      .u32(notice.name.length * 2)
      .text(notice.name);
    if (!isLast) to.align(4);
  }
  return to.done();
}
