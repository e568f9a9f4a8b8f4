import { lengthOf, WholeBuffer } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { ResponseBody } from "./http/exchange.ts";

/** Longer bodies are sent without copying if their pieces average at least `PIECE_BYTES_MIN`. */
const COPIED_BYTES_MAX = 64 * KIB;
const PIECE_BYTES_MIN = 8 * KIB;

/** Makes a response body from pieces: one copy if they are short, else the pieces themselves. */
export function bodyOfPieces(pieces: readonly Bytes[]): ResponseBody {
  const length = lengthOf(pieces);
  if (length <= COPIED_BYTES_MAX || length < pieces.length * PIECE_BYTES_MIN) {
    return Buffer.concat(pieces, length);
  }
  const owner = new WholeBuffer(pieces);
  return { length, isAtHand: true, borrow: () => owner.borrow(), close() {} };
}
