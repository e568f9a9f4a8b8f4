import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { bodyOf, partOf, textOf, Writer } from "./wire.ts";

export interface TreeConnectAnswer {
  readonly kind: "disk" | "pipe";
  readonly shareFlags: number;
  readonly capabilities: number;
  readonly maximalAccess: number;
}

const STRUCTURE_SIZE = 9;
const SHARE_TYPE = { disk: 1, pipe: 2 };
const FLAG_EXTENSION = 4;

/** Reads the share's name from `\\server\share`. */
export function readTreeConnect(message: Bytes): string {
  const body = bodyOf(message, STRUCTURE_SIZE);
  if ((body.readUInt16LE(2) & FLAG_EXTENSION) !== 0) throw new StatusError(STATUS.NOT_SUPPORTED);
  const path = textOf(partOf(message, body.readUInt16LE(4), body.readUInt16LE(6)));
  const [, share] = /^\\\\[^\\]+\\([^\\]+)$/.exec(path) ?? [];
  if (share === undefined) throw new StatusError(STATUS.BAD_NETWORK_NAME);
  return share;
}

export function writeTreeConnect(answer: TreeConnectAnswer): Bytes {
  return new Writer()
    .u16(16)
    .u8(SHARE_TYPE[answer.kind])
    .u8(0)
    .u32(answer.shareFlags)
    .u32(answer.capabilities)
    .u32(answer.maximalAccess)
    .done();
}
