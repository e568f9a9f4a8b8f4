import type { Bytes } from "../../../base/bytes.ts";
import { DELETE, READ, WRITE } from "../../../rules/share-mode.ts";
import type { FileUse } from "../../outcome.ts";
import { ACCESS } from "../codec/access.ts";
import { HEADER_BYTES, Writer } from "../codec/wire.ts";
import type { Reply } from "./smb-client.ts";

/** What a CREATE does with a file that is there, or is not. */
export const DISPOSITION = { open: 1, create: 2, openIf: 3 } as const;

export interface CreateBody {
  /** Below the share, with slashes. */
  readonly name: string;
  /** Bits of `codec/access.ts`. */
  readonly access: number;
  /** What others may do meanwhile: bits of `rules/share-mode.ts`. */
  readonly share: number;
  readonly disposition: keyof typeof DISPOSITION;
  readonly options?: number;
}

const IMPERSONATION = 2;
const NAME_AT = HEADER_BYTES + 56;
const DATA_AT = HEADER_BYTES + 48;
const HANDLE_AT = HEADER_BYTES + 64;
const HANDLE_BYTES = 16;

export function createBody({ name, access, share, disposition, options = 0 }: CreateBody): Bytes {
  const text = Buffer.from(name.replaceAll("/", "\\"), "utf16le");
  return new Writer()
    .u16(57)
    .u16(0)
    .u32(IMPERSONATION)
    .zeros(16)
    .u32(access)
    .u32(0)
    .u32(share)
    .u32(DISPOSITION[disposition])
    .u32(options)
    .u16(NAME_AT)
    .u16(text.length)
    .u32(0)
    .u32(0)
    .bytes(text)
    .zeros(text.length === 0 ? 1 : 0)
    .done();
}

/** The handle in the response to a CREATE: 16 bytes that identify the open to its client. */
export function handleIn({ bytes }: Reply): Bytes {
  return bytes.subarray(HANDLE_AT, HANDLE_AT + HANDLE_BYTES);
}

/** Of CLOSE, and of FLUSH. */
export function closeBody(handle: Bytes): Bytes {
  return new Writer().u16(24).zeros(6).bytes(handle).done();
}

/** `flags` are those of `codec/lock.ts`. */
export function lockBody(handle: Bytes, from: number, length: number, flags: number): Bytes {
  const body = new Writer().u16(48).u16(1).u32(0).bytes(handle);
  return body.u64(from).u64(length).u32(flags).u32(0).done();
}

export function writeBody(handle: Bytes, from: number, data: Bytes): Bytes {
  const body = new Writer().u16(49).u16(DATA_AT).u32(data.length).u64(from).bytes(handle);
  return body.zeros(16).bytes(data).done();
}

const SHARE_BITS: Readonly<Record<FileUse, number>> = { read: READ, write: WRITE, delete: DELETE };
const ACCESS_BITS: Readonly<Record<FileUse, number>> = {
  read: ACCESS.readData,
  write: ACCESS.writeData,
  delete: ACCESS.delete,
};

/** The share mode of a CREATE. */
export function shareBits(uses: readonly FileUse[]): number {
  return uses.reduce((sum, use) => sum | SHARE_BITS[use], 0);
}

/** The access of a CREATE, which may always see attributes. */
export function accessBits(uses: readonly FileUse[]): number {
  return uses.reduce((sum, use) => sum | ACCESS_BITS[use], ACCESS.readAttributes as number);
}
