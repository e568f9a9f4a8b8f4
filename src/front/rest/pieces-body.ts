import { lengthOf, WholeBuffer } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { ResponseBody } from "./http/exchange.ts";

/** So many bytes in pieces as large as this are sent as they are: a copy would cost more. */
const COPIED_BYTES_MAX = 64 * KIB;
const PIECE_BYTES_MIN = 8 * KIB;

/** A body that lies in several places. */
export function bodyOfPieces(pieces: readonly Bytes[]): ResponseBody {
  const length = lengthOf(pieces);
  if (length <= COPIED_BYTES_MAX || length < pieces.length * PIECE_BYTES_MIN) {
    return Buffer.concat(pieces, length);
  }
  const owner = new WholeBuffer(pieces);
  return { length, isAtHand: true, borrow: () => owner.borrow(), close() {} };
}
