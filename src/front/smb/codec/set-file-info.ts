import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { readU64, textOf } from "./wire.ts";

/** The change of a file that SET_INFO asks for. */
export type FileChange =
  | {
      readonly kind: "basic";
      readonly created: bigint;
      readonly accessed: bigint;
      readonly written: bigint;
      readonly changed: bigint;
      readonly attributes: number;
    }
  | { readonly kind: "rename"; readonly name: string; readonly replaces: boolean }
  | { readonly kind: "disposition"; readonly deletes: boolean }
  | { readonly kind: "position"; readonly position: bigint }
  | { readonly kind: "mode"; readonly mode: number }
  | { readonly kind: "allocation"; readonly size: number }
  | { readonly kind: "size"; readonly size: number };

const CLASS = {
  basic: 4,
  rename: 10,
  disposition: 13,
  position: 14,
  mode: 16,
  allocation: 19,
  endOfFile: 20,
  dispositionEx: 64,
  renameEx: 65,
} as const;

/** The bytes before the name, which end with the root directory and the name's length. */
const RENAME_FIXED_BYTES = 20;
const EX_FLAG = 1;

/** Reads a SET_INFO. Throws a `StatusError` for classes that cannot be set, or invalid values. */
export function readFileChange(infoClass: number, input: Bytes): FileChange {
  switch (infoClass) {
    case CLASS.basic:
      return readBasic(atLeast(input, 36));
    case CLASS.rename:
      return readRename(input, (input[0] ?? 0) !== 0);
    case CLASS.renameEx:
      return readRename(input, ((input[0] ?? 0) & EX_FLAG) !== 0);
    case CLASS.disposition:
      return { kind: "disposition", deletes: atLeast(input, 1)[0] !== 0 };
    case CLASS.dispositionEx:
      return { kind: "disposition", deletes: (atLeast(input, 4).readUInt32LE(0) & EX_FLAG) !== 0 };
    case CLASS.position:
      return { kind: "position", position: atLeast(input, 8).readBigUInt64LE(0) };
    case CLASS.mode:
      return { kind: "mode", mode: atLeast(input, 4).readUInt32LE(0) };
    case CLASS.allocation:
      return { kind: "allocation", size: readSize(input) };
    case CLASS.endOfFile:
      return { kind: "size", size: readSize(input) };
    default:
      throw new StatusError(STATUS.INVALID_INFO_CLASS);
  }
}

function readBasic(input: Bytes): FileChange {
  return {
    kind: "basic",
    created: input.readBigInt64LE(0),
    accessed: input.readBigInt64LE(8),
    written: input.readBigInt64LE(16),
    changed: input.readBigInt64LE(24),
    attributes: input.readUInt32LE(32),
  };
}

function readRename(input: Bytes, replaces: boolean): FileChange {
  const length = atLeast(input, RENAME_FIXED_BYTES).readUInt32LE(16);
  const end = RENAME_FIXED_BYTES + length;
  if (length === 0 || input.length < end || readU64(input, 8) !== 0) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return { kind: "rename", name: textOf(input.subarray(RENAME_FIXED_BYTES, end)), replaces };
}

function readSize(input: Bytes): number {
  if (atLeast(input, 8).readBigInt64LE(0) < 0n) throw new StatusError(STATUS.INVALID_PARAMETER);
  return readU64(input, 0);
}

function atLeast(input: Bytes, bytes: number): Bytes {
  if (input.length < bytes) throw new StatusError(STATUS.INFO_LENGTH_MISMATCH);
  return input;
}
