import { Fault } from "./fault.ts";
import { RANGE_DIGEST_BYTES_MAX } from "./limits.ts";

/** A range of bytes that a client asks for. */
export interface ByteRange {
  readonly from: number;
  /** The last byte, or null for an open end. */
  readonly to: number | null;
}

/** A range of bytes that exists. */
export interface Piece {
  readonly from: number;
  readonly length: number;
}

/** Clips a range to a size. Throws if it begins behind the end. */
export function pieceOf(size: number, range: ByteRange | null): Piece {
  if (range === null) return { from: 0, length: size };
  if (range.from >= size) throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  const end = range.to === null ? size : Math.min(range.to + 1, size);
  return { from: range.from, length: end - range.from };
}

/** Throws if a piece is too long for a checksum, which needs the whole piece in memory. */
export function requireDigestible(piece: Piece): void {
  if (piece.length <= RANGE_DIGEST_BYTES_MAX) return;
  throw new Fault("OutOfRangeInput", {
    MaximumAllowed: String(RANGE_DIGEST_BYTES_MAX),
    Reason: "A checksum of a range can be had for ranges up to this size: ask for less at once.",
  });
}
