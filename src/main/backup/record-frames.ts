import type { Bytes } from "../../base/bytes.ts";
import type { CopiedPart, CopiedRecord } from "../../content/state-copy.ts";
import { StoreError } from "../../store/store.ts";

/**
 * Records as bytes, in files of a backup and on their way from a server to the command: the lengths
 * of key and value, then both. A deleted record has a length that no value has. On the way there are
 * also notes, with an empty key and JSON as their value.
 */
const HEAD_BYTES = 8;
const DELETED = 0xffff_ffff;

export function encodeRecord({ key, value }: CopiedRecord): Bytes {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + key.length + (value?.length ?? 0));
  bytes.writeUInt32LE(key.length, 0);
  bytes.writeUInt32LE(value === null ? DELETED : value.length, 4);
  key.copy(bytes, HEAD_BYTES);
  value?.copy(bytes, HEAD_BYTES + key.length);
  return bytes;
}

/** The records in these bytes, which must end with one. */
export function* decodeRecords(bytes: Bytes): Generator<CopiedRecord> {
  for (let at = 0; at < bytes.length; ) {
    const keyBytes = at + HEAD_BYTES <= bytes.length ? bytes.readUInt32LE(at) : DELETED;
    if (keyBytes === DELETED) throw cutOff();
    const valueBytes = bytes.readUInt32LE(at + 4);
    const start = at + HEAD_BYTES + keyBytes;
    const end = start + (valueBytes === DELETED ? 0 : valueBytes);
    if (end > bytes.length) throw cutOff();
    const value = valueBytes === DELETED ? null : bytes.subarray(start, end);
    yield { key: bytes.subarray(at + HEAD_BYTES, start), value };
    at = end;
  }
}

function cutOff(): StoreError {
  return new StoreError("damaged", "records are cut off");
}

/** A part of a copy, on its way to the command. */
export function encodePart(part: CopiedPart): Bytes {
  if (part.is === "records") return Buffer.concat(part.records.map(encodeRecord));
  const text = JSON.stringify(part, (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return encodeRecord({ key: Buffer.alloc(0), value: Buffer.from(text) });
}

/** The parts in these bytes; records come one at a time. */
export function* decodeParts(bytes: Bytes): Generator<CopiedPart> {
  for (const record of decodeRecords(bytes)) {
    if (record.key.length > 0) {
      yield { is: "records", records: [record] };
      continue;
    }
    const part = JSON.parse(String(record.value));
    yield part.is === "end" ? { ...part, stamp: BigInt(part.stamp) } : part;
  }
}
