import { STATUS, StatusError } from "../nt-status.ts";
import { type Fitted, fitted } from "./file-info.ts";
import { Writer } from "./wire.ts";

/** A share, presented as a volume. */
export interface VolumeInfo {
  readonly label: string;
  readonly serial: number;
  readonly created: bigint;
  readonly quotaBytes: number;
  readonly freeBytes: number;
}

const CLASS = {
  volume: 1,
  size: 3,
  device: 4,
  attribute: 5,
  fullSize: 7,
  sectorSize: 11,
} as const;

const SECTOR_BYTES = 512;
const UNIT_SECTORS = 8;
const UNIT_BYTES = SECTOR_BYTES * UNIT_SECTORS;
const DISK = 7;
const MOUNTED = 0x20;
/** Names preserve their case and are Unicode; files have permissions. */
const ATTRIBUTES = 0x2 | 0x4 | 0x8;
const NAME_CHARS_MAX = 255;
const FILE_SYSTEM = "NTFS";
const ALIGNED = 0x3;

const units = (bytes: number) => Math.floor(bytes / UNIT_BYTES);

type Write = (writer: Writer, info: VolumeInfo) => Writer;

const volume: Write = (writer, { created, serial, label }) =>
  writer
    .u64(created)
    .u32(serial)
    .u32(label.length * 2)
    .u8(0)
    .u8(0)
    .text(label);
const size: Write = (writer, { quotaBytes, freeBytes }) =>
  writer.u64(units(quotaBytes)).u64(units(freeBytes)).u32(UNIT_SECTORS).u32(SECTOR_BYTES);
const fullSize: Write = (writer, { quotaBytes, freeBytes }) =>
  writer
    .u64(units(quotaBytes))
    .u64(units(freeBytes))
    .u64(units(freeBytes))
    .u32(UNIT_SECTORS)
    .u32(SECTOR_BYTES);
const attribute: Write = (writer) =>
  writer
    .u32(ATTRIBUTES)
    .u32(NAME_CHARS_MAX)
    .u32(FILE_SYSTEM.length * 2)
    .text(FILE_SYSTEM);
const sectorSize: Write = (writer) =>
  writer
    .u32(SECTOR_BYTES)
    .u32(UNIT_BYTES)
    .u32(UNIT_BYTES)
    .u32(UNIT_BYTES)
    .u32(ALIGNED)
    .u32(0)
    .u32(0);

const CLASSES: ReadonlyMap<number, { write: Write; bytesMin: number }> = new Map([
  [CLASS.volume, { write: volume, bytesMin: 24 }],
  [CLASS.size, { write: size, bytesMin: 24 }],
  [CLASS.device, { write: (writer: Writer) => writer.u32(DISK).u32(MOUNTED), bytesMin: 8 }],
  [CLASS.attribute, { write: attribute, bytesMin: 16 }],
  [CLASS.fullSize, { write: fullSize, bytesMin: 32 }],
  [CLASS.sectorSize, { write: sectorSize, bytesMin: 28 }],
]);

/** Throws a `StatusError`. */
export function writeFileSystemInfo(infoClass: number, info: VolumeInfo, bytesMax: number): Fitted {
  const found = CLASSES.get(infoClass);
  if (found === undefined) throw new StatusError(STATUS.INVALID_INFO_CLASS);
  return fitted(found.write(new Writer(), info).done(), found.bytesMin, bytesMax);
}
