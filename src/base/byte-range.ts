import { Fault } from "./fault.ts";
import { RANGE_DIGEST_BYTES_MAX } from "./limits.ts";

/** A part of a blob or file, as clients ask for it. */
export interface ByteRange {
  readonly from: number;
  /** The last byte, or null for all that follow. */
  readonly to: number | null;
}

export interface Piece {
  readonly from: number;
  readonly length: number;
}

/** The part of something of this size that a range asks for: its end is cut, its start must be there. */
export function pieceOf(size: number, range: ByteRange | null): Piece {
  if (range === null) return { from: 0, length: size };
  if (range.from >= size) throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  const end = range.to === null ? size : Math.min(range.to + 1, size);
  return { from: range.from, length: end - range.from };
}

/** Where a checksum of a piece is wanted: it takes the whole piece in memory. */
export function refuseDigestOf(piece: Piece): void {
  if (piece.length <= RANGE_DIGEST_BYTES_MAX) return;
  throw new Fault("OutOfRangeInput", {
    MaximumAllowed: String(RANGE_DIGEST_BYTES_MAX),
    Reason: "A checksum of a range can be had for ranges up to this size: ask for less at once.",
  });
}
