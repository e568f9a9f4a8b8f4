import { type BorrowedBuffer, unowned } from "../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import { Crc64 } from "../../machine/crc64.ts";
import type { ResponseStream } from "./http/exchange.ts";

/**
 * Bodies in frames with checksums, which detect damage on the network. Little-endian: header
 * (version u8, total length u64, flags u16, number of segments u16), segments (number u16 from 1,
 * length u64, bytes, their CRC-64), CRC-64 of all bytes.
 */
export const STRUCTURED_BODY = "XSM/1.0; properties=crc64";

const VERSION = 1;
const FLAG_CRC64 = 1;
const HEADER_BYTES = 13;
const SEGMENT_HEADER_BYTES = 10;
const CRC64_BYTES = 8;
const SEGMENT_BYTES = 4 * MIB;
const SEGMENTS_MAX = 0xffff;

/**
 * Decodes a framed body and checks its checksums. `length` is the client's length of the content.
 */
export function decodeStructured(framed: Body, length: number): Body {
  return {
    length,
    isHeldBack: framed.isHeldBack === true,
    async drain(take) {
      const decoder = new Decoder(framed.length, length);
      await framed.drain((part) => decoder.push(part, take));
      decoder.end();
    },
  };
}

type Field = "header" | "segment header" | "segment checksum" | "checksum";

class Decoder {
  readonly #framedLength: number;
  /** Remaining bytes of content, in this segment and in total. */
  #leftInSegment = 0;
  #left: number;
  #segment = 0;
  #segments = 0;
  #segmentCrc = new Crc64();
  readonly #crc = new Crc64();
  /** The field being filled; null within the bytes of a segment and after the end. */
  #field: Field | null = "header";
  #fieldBytes: Bytes = Buffer.alloc(HEADER_BYTES);
  #filled = 0;

  constructor(framedLength: number, length: number) {
    this.#framedLength = framedLength;
    this.#left = length;
  }

  async push(part: Bytes, take: (part: Bytes) => void | Promise<void>): Promise<void> {
    for (let at = 0; at < part.length; ) {
      if (this.#field !== null) {
        at += this.#fill(part, at);
        continue;
      }
      if (this.#leftInSegment === 0) throw badFrames("There are bytes behind the last checksum.");
      const content = part.subarray(at, at + this.#leftInSegment);
      at += content.length;
      this.#leftInSegment -= content.length;
      this.#left -= content.length;
      this.#segmentCrc.update(content);
      this.#crc.update(content);
      if (this.#leftInSegment === 0) this.#expect("segment checksum", CRC64_BYTES);
      await take(content);
    }
  }

  end(): void {
    if (this.#field !== null || this.#leftInSegment > 0)
      throw badFrames("The last ones are missing.");
  }

  #expect(field: Field, bytes: number): void {
    this.#field = field;
    this.#fieldBytes = Buffer.alloc(bytes);
    this.#filled = 0;
  }

  /** Copies bytes into the current field, and reads the field once it is complete. */
  #fill(part: Bytes, at: number): number {
    const copied = part.copy(this.#fieldBytes, this.#filled, at);
    this.#filled += copied;
    if (this.#filled === this.#fieldBytes.length)
      this.#read(this.#field as Field, this.#fieldBytes);
    return copied;
  }

  #read(field: Field, bytes: Bytes): void {
    switch (field) {
      case "header":
        this.#readHeader(bytes);
        break;
      case "segment header":
        this.#readSegmentHeader(bytes);
        break;
      case "segment checksum":
        requireChecksum(bytes, this.#segmentCrc);
        this.#segmentCrc = new Crc64();
        this.#nextSegment();
        break;
      case "checksum":
        if (this.#left > 0) throw badFrames("They hold less than x-ms-structured-content-length.");
        requireChecksum(bytes, this.#crc);
        this.#field = null;
    }
  }

  #readHeader(bytes: Bytes): void {
    if (bytes.readUInt8(0) !== VERSION) throw badFrames(`Their version must be ${VERSION}.`);
    if (bytes.readBigUInt64LE(1) !== BigInt(this.#framedLength)) {
      throw badFrames("Their length must be the Content-Length.");
    }
    if (bytes.readUInt16LE(9) !== FLAG_CRC64) throw badFrames("Their flags must say CRC-64.");
    this.#segments = bytes.readUInt16LE(11);
    this.#nextSegment();
  }

  #readSegmentHeader(bytes: Bytes): void {
    this.#segment++;
    if (bytes.readUInt16LE(0) !== this.#segment) throw badFrames("A segment is out of order.");
    const length = bytes.readBigUInt64LE(2);
    if (length > BigInt(this.#left)) {
      throw badFrames("They hold more than x-ms-structured-content-length.");
    }
    this.#leftInSegment = Number(length);
    if (length === 0n) this.#expect("segment checksum", CRC64_BYTES);
    else this.#field = null;
  }

  #nextSegment(): void {
    if (this.#segment < this.#segments) this.#expect("segment header", SEGMENT_HEADER_BYTES);
    else this.#expect("checksum", CRC64_BYTES);
  }
}

function requireChecksum(sent: Bytes, computed: Crc64): void {
  const crc64 = computed.digest();
  if (crc64.equals(sent)) return;
  throw new Fault("Crc64Mismatch", {
    UserSpecifiedCrc: sent.toString("base64"),
    ServerCalculatedCrc: crc64.toString("base64"),
  });
}

function badFrames(reason: string): Fault {
  return new Fault("InvalidInput", { Reason: `The frames of the structured body: ${reason}` });
}

/** Encodes a response in frames. Closing it closes the content. */
export function encodeStructured(content: ResponseStream): ResponseStream {
  // Clients expect at least one segment, even if it is empty, and count segments in 16 bits.
  const segmentBytes = Math.max(SEGMENT_BYTES, Math.ceil(content.length / SEGMENTS_MAX));
  const segments = Math.max(1, Math.ceil(content.length / segmentBytes));
  const overhead = HEADER_BYTES + segments * (SEGMENT_HEADER_BYTES + CRC64_BYTES) + CRC64_BYTES;
  return new Frames(content, content.length + overhead, segments, segmentBytes);
}

class Frames implements ResponseStream {
  readonly length: number;
  readonly #content: ResponseStream;
  readonly #segmentBytes: number;
  readonly #crc = new Crc64();
  #segmentCrc = new Crc64();
  #segment = 1;
  #left: number;
  #leftInSegment: number;
  /** The frames to send before the next bytes of content; null at the end. */
  #before: Bytes[] | null;

  constructor(content: ResponseStream, length: number, segments: number, segmentBytes: number) {
    this.length = length;
    this.#content = content;
    this.#segmentBytes = segmentBytes;
    this.#left = content.length;
    this.#leftInSegment = Math.min(segmentBytes, content.length);
    this.#before = [headerOf(length, segments), segmentHeaderOf(1, this.#leftInSegment)];
  }

  async borrow(bytes: number): Promise<BorrowedBuffer | null> {
    const frames = this.#before;
    if (frames === null) return null;
    const borrowed = await this.#content.borrow(bytes);
    if (borrowed === null) {
      this.#before = null;
      return unowned([...frames, this.#segmentCrc.digest(), this.#crc.digest()]);
    }
    this.#before = [];
    for (const part of borrowed.parts) this.#frame(part, frames);
    return { parts: frames, mayOverwrite: false, release: () => borrowed.release() };
  }

  close(): void {
    this.#content.close();
  }

  #frame(part: Bytes, frames: Bytes[]): void {
    for (let at = 0; at < part.length; ) {
      if (this.#leftInSegment === 0) frames.push(this.#segmentCrc.digest(), this.#nextSegment());
      const bytes = part.subarray(at, at + this.#leftInSegment);
      at += bytes.length;
      this.#leftInSegment -= bytes.length;
      this.#left -= bytes.length;
      this.#segmentCrc.update(bytes);
      this.#crc.update(bytes);
      frames.push(bytes);
    }
  }

  #nextSegment(): Bytes {
    this.#segmentCrc = new Crc64();
    this.#leftInSegment = Math.min(this.#segmentBytes, this.#left);
    return segmentHeaderOf(++this.#segment, this.#leftInSegment);
  }
}

function headerOf(length: number, segments: number): Bytes {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeBigUInt64LE(BigInt(length), 1);
  bytes.writeUInt16LE(FLAG_CRC64, 9);
  bytes.writeUInt16LE(segments, 11);
  return bytes;
}

function segmentHeaderOf(segment: number, length: number): Bytes {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.writeUInt16LE(segment, 0);
  bytes.writeBigUInt64LE(BigInt(length), 2);
  return bytes;
}
