import type { Bytes } from "./bytes.ts";
import { PIECE_BYTES, type Steps } from "./fair-queue.ts";

/** The bytes of one piece of work: characters beyond ASCII take about 4 ns a byte. */
export const DECODED_BYTES = 4 * PIECE_BYTES;

/** Decodes bytes that are known to be UTF-8 in slices, so that others run in between. */
export function* textInSteps(bytes: Bytes): Steps<string> {
  let text = "";
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) yield;
    const until = startOfCharacter(bytes, from + DECODED_BYTES);
    text += bytes.toString("utf8", from, until);
    from = until;
  }
  return text;
}

/** The start of the character that this byte belongs to. */
function startOfCharacter(bytes: Bytes, at: number): number {
  let start = Math.min(at, bytes.length);
  while (((bytes[start] ?? 0) & 0b1100_0000) === 0b1000_0000) start--;
  return start;
}
