import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** Offsets in messages count from the header's first byte. */
export const HEADER_BYTES = 64;

const TWO_32 = 2 ** 32;

/**
 * The body of a message, after checking that its fixed part is complete. An odd structure size
 * means a fixed part of one byte less, followed by a part of variable length.
 */
export function bodyOf(message: Bytes, structureSize: number): Bytes {
  const body = message.subarray(HEADER_BYTES);
  if (body.length < (structureSize & ~1) || body.readUInt16LE(0) !== structureSize) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return body;
}

/** The part of a message at `offset`. An empty part may have any offset. */
export function partOf(message: Bytes, offset: number, length: number): Bytes {
  if (length === 0) return message.subarray(0, 0);
  if (offset < HEADER_BYTES || offset + length > message.length) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return message.subarray(offset, offset + length);
}

/** Decodes text as UTF-16 units, valid surrogates or not. */
export function textOf(bytes: Bytes): string {
  if (bytes.length % 2 !== 0) throw new StatusError(STATUS.INVALID_PARAMETER);
  return bytes.toString("utf16le");
}

/** Exact up to 2^53. Our own ids are far below; others may be rounded. */
export function readU64(bytes: Bytes, at: number): number {
  return bytes.readUInt32LE(at + 4) * TWO_32 + bytes.readUInt32LE(at);
}

export function writeU64(bytes: Bytes, at: number, value: number): void {
  bytes.writeUInt32LE(value % TWO_32, at);
  bytes.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

export function alignedTo(length: number, unit: number): number {
  return Math.ceil(length / unit) * unit;
}

/** Writes values to a growing buffer, little-endian. */
export class Writer {
  /** Uninitialized beyond `#length`. */
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeUInt32LE(value >>> 0, at);
    return this;
  }

  u64(value: number | bigint): this {
    const at = this.#grow(8);
    if (typeof value === "bigint") this.#bytes.writeBigUInt64LE(value, at);
    else writeU64(this.#bytes, at, value);
    return this;
  }

  bytes(value: Bytes): this {
    const at = this.#grow(value.length);
    value.copy(this.#bytes, at);
    return this;
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value, "utf16le"));
  }

  zeros(count: number): this {
    const at = this.#grow(count);
    this.#bytes.fill(0, at, at + count);
    return this;
  }

  align(unit: number): this {
    return this.zeros(alignedTo(this.#length, unit) - this.#length);
  }

  /** Overwrites the number at `at`. */
  patchU32(at: number, value: number): this {
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  done(): Bytes {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): number {
    const at = this.#length;
    if (at + by > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(at + by, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#length += by;
    return at;
  }
}
