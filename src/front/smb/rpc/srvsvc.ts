import type { Bytes } from "../../../base/bytes.ts";
import { Writer } from "../codec/wire.ts";
import type { RpcInterface } from "./conversation.ts";
import { NdrReader, writeNdrText } from "./ndr.ts";

/** 4b324fc8-1670-01d3-1278-5a47bf6ee188, version 3: the service that lists shares. */
export const SRVSVC: RpcInterface = {
  pipe: "srvsvc",
  uuid: Buffer.from("c84f324b7016d30112785a47bf6ee188", "hex"),
  version: 3,
};

const OPERATION = { shareEnum: 15, shareGetInfo: 16 };
const ERROR = { none: 0, invalidLevel: 124, noSuchShare: 2310 };
const SHARE_TYPE = { disk: 0, pipes: 0x80000003 };
/** Any number but zero: a pointer that is not null. */
const POINTER = 0x00020000;

interface ListedShare {
  readonly name: string;
  readonly type: number;
  readonly remark: string;
}

const IPC: ListedShare = { name: "IPC$", type: SHARE_TYPE.pipes, remark: "Lazuli" };

/** The fields of a share at a level: numbers and texts in order. */
type Level = (share: ListedShare) => readonly (number | string)[];

const NO_LIMIT = 0xffffffff;
const LEVELS: ReadonlyMap<number, Level> = new Map<number, Level>([
  [0, ({ name }) => [name]],
  [1, ({ name, type, remark }) => [name, type, remark]],
  [2, ({ name, type, remark }) => [name, type, remark, 0, NO_LIMIT, 0, "", ""]],
]);

/** Serves an operation; null if it is unknown. Throws a `StatusError` for malformed input. */
export function serveSrvsvc(
  operation: number,
  input: Bytes,
  shares: readonly string[],
): Bytes | null {
  const disks = shares.map((name) => ({ name, type: SHARE_TYPE.disk, remark: "" }));
  switch (operation) {
    case OPERATION.shareEnum:
      return shareEnum(new NdrReader(input), [...disks, IPC]);
    case OPERATION.shareGetInfo:
      return shareGetInfo(new NdrReader(input), [...disks, IPC]);
    default:
      return null;
  }
}

function shareEnum(input: NdrReader, shares: readonly ListedShare[]): Bytes {
  input.textAtPointer();
  const number = input.u32();
  const level = LEVELS.get(number);
  const writer = new Writer().u32(number).u32(number);
  if (level === undefined) return writer.u32(0).u32(0).u32(0).u32(ERROR.invalidLevel).done();
  writer.u32(POINTER).u32(shares.length).u32(POINTER).u32(shares.length);
  writeStructs(writer, shares.map(level));
  return writer.u32(shares.length).u32(0).u32(ERROR.none).done();
}

function shareGetInfo(input: NdrReader, shares: readonly ListedShare[]): Bytes {
  input.textAtPointer();
  const name = input.text();
  const number = input.u32();
  const share = shares.find((one) => one.name.toLowerCase() === name.toLowerCase());
  const level = LEVELS.get(number);
  const writer = new Writer().u32(number);
  if (share === undefined || level === undefined) {
    return writer
      .u32(0)
      .u32(level === undefined ? ERROR.invalidLevel : ERROR.noSuchShare)
      .done();
  }
  writer.u32(POINTER);
  writeStructs(writer, [level(share)]);
  return writer.u32(ERROR.none).done();
}

/** Writes the structures, then the texts that they point to, in the same order. */
function writeStructs(writer: Writer, structs: readonly (readonly (number | string)[])[]): void {
  const fields = structs.flat();
  for (const field of fields) writer.u32(typeof field === "number" ? field : POINTER);
  for (const field of fields) if (typeof field === "string") writeNdrText(writer, field);
}
