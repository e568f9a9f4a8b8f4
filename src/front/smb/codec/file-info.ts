import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { ShownItem } from "./attributes.ts";
import { Writer } from "./wire.ts";

/** Information about an open file, beyond the file itself. */
export interface OpenInfo {
  readonly item: ShownItem;
  /** From the root, with backslashes, beginning with one. */
  readonly path: string;
  readonly isDeletePending: boolean;
  readonly granted: number;
  readonly position: bigint;
  readonly mode: number;
}

/** The bytes that fit into a response, and whether they are complete. */
export interface Fitted {
  readonly bytes: Bytes;
  readonly isCut: boolean;
}

const CLASS = {
  basic: 4,
  standard: 5,
  internal: 6,
  ea: 7,
  access: 8,
  position: 14,
  mode: 16,
  alignment: 17,
  all: 18,
  alternateName: 21,
  stream: 22,
  compression: 28,
  networkOpen: 34,
  attributeTag: 35,
  normalizedName: 48,
  id: 59,
} as const;

type Write = (writer: Writer, info: OpenInfo) => Writer;

const basic: Write = (writer, { item }) => times(writer, item).u32(item.attributes).u32(0);
const standard: Write = (writer, { item, isDeletePending }) =>
  writer
    .u64(item.allocated)
    .u64(item.size)
    .u32(isDeletePending ? 0 : 1)
    .u8(isDeletePending ? 1 : 0)
    .u8(item.isDirectory ? 1 : 0)
    .u16(0);
const internal: Write = (writer, { item }) => writer.u64(item.id);
const none: Write = (writer) => writer.u32(0);
const access: Write = (writer, { granted }) => writer.u32(granted);
const position: Write = (writer, info) => writer.u64(info.position);
const mode: Write = (writer, info) => writer.u32(info.mode);
const name: Write = (writer, { path }) => writer.u32(path.length * 2).text(path);
const all: Write = (writer, info) =>
  [basic, standard, internal, none, access, position, mode, none, name].reduce(
    (written, write) => write(written, info),
    writer,
  );
const networkOpen: Write = (writer, { item }) =>
  times(writer, item).u64(item.allocated).u64(item.size).u32(item.attributes).u32(0);

/** There are no 8.3 names: the long name stands in for them. */
const alternateName: Write = (writer, { item }) => writer.u32(item.name.length * 2).text(item.name);

/** The only stream of a file. */
const DATA_STREAM = "::$DATA";
const stream: Write = (writer, { item }) => {
  if (item.isDirectory) return writer;
  const { size, allocated } = item;
  return writer
    .u32(0)
    .u32(DATA_STREAM.length * 2)
    .u64(size)
    .u64(allocated)
    .text(DATA_STREAM);
};

interface InfoClass {
  readonly write: Write;
  /** A smaller buffer is refused. */
  readonly bytesMin: number;
}

const CLASSES: ReadonlyMap<number, InfoClass> = new Map<number, InfoClass>([
  [CLASS.basic, { write: basic, bytesMin: 40 }],
  [CLASS.standard, { write: standard, bytesMin: 24 }],
  [CLASS.internal, { write: internal, bytesMin: 8 }],
  [CLASS.ea, { write: none, bytesMin: 4 }],
  [CLASS.access, { write: access, bytesMin: 4 }],
  [CLASS.position, { write: position, bytesMin: 8 }],
  [CLASS.mode, { write: mode, bytesMin: 4 }],
  [CLASS.alignment, { write: none, bytesMin: 4 }],
  [CLASS.all, { write: all, bytesMin: 104 }],
  [CLASS.alternateName, { write: alternateName, bytesMin: 8 }],
  [CLASS.stream, { write: stream, bytesMin: 32 }],
  [CLASS.compression, { write: (writer, { item }) => writer.u64(item.size).u64(0), bytesMin: 16 }],
  [CLASS.networkOpen, { write: networkOpen, bytesMin: 56 }],
  [CLASS.attributeTag, { write: (w, { item }) => w.u32(item.attributes).u32(0), bytesMin: 8 }],
  [
    CLASS.normalizedName,
    {
      write: (writer, { path }) => writer.u32((path.length - 1) * 2).text(path.slice(1)),
      bytesMin: 8,
    },
  ],
  [CLASS.id, { write: (writer, { item }) => writer.u64(0).u64(item.id).u64(0), bytesMin: 24 }],
]);

function times(
  writer: Writer,
  { times: { created, accessed, written, changed } }: ShownItem,
): Writer {
  return writer.u64(created).u64(accessed).u64(written).u64(changed);
}

/** Writes an information class, cut to the client's buffer size. Throws a `StatusError`. */
export function writeFileInfo(infoClass: number, info: OpenInfo, bytesMax: number): Fitted {
  const found = CLASSES.get(infoClass);
  if (found === undefined) throw new StatusError(STATUS.INVALID_INFO_CLASS);
  return fitted(found.write(new Writer(), info).done(), found.bytesMin, bytesMax);
}

export function fitted(bytes: Bytes, bytesMin: number, bytesMax: number): Fitted {
  if (bytesMax < bytesMin) throw new StatusError(STATUS.INFO_LENGTH_MISMATCH);
  return { bytes: bytes.subarray(0, bytesMax), isCut: bytes.length > bytesMax };
}
