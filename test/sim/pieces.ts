/**
 * Bodies that identify themselves. A piece has a label, `put7:4096`, which stands at its start and
 * fills it; a content is a sequence of pieces. So a reader of a content knows which writes it comes
 * from, and notices a partial one.
 */
export type Piece = string;

const LABEL_BYTES_MAX = 64;
export const PAGE_BYTES = 512;
/** A page that was never written, or was cleared. */
export const ZERO_PAGE: Piece = `zero:${PAGE_BYTES}`;

export function pieceOf(name: string, bytes: number): Piece {
  const piece = `${name}:${bytes}`;
  return piece.length + 2 > bytes ? `${name}:${piece.length + 2}` : piece;
}

export function bytesOf(piece: Piece): Buffer {
  return piece === ZERO_PAGE
    ? Buffer.alloc(PAGE_BYTES)
    : Buffer.alloc(lengthOf([piece]), `<${piece}>`);
}

export function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + Number(piece.slice(piece.indexOf(":") + 1)), 0);
}

/** The pieces in a body; if it does not consist of whole ones, a last "piece" says so. */
export function piecesIn(body: Buffer): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < body.length; ) {
    const label = labelAt(body, at);
    if (label === undefined) return [...pieces, `no piece at ${at}`];
    const whole = bytesOf(label);
    const found = body.subarray(at, at + whole.length);
    if (!found.equals(whole)) return [...pieces, `torn piece ${label} at ${at}`];
    pieces.push(label);
    at += whole.length;
  }
  return pieces;
}

function labelAt(body: Buffer, at: number): Piece | undefined {
  if (body[at] === 0) return ZERO_PAGE;
  return /^<([\w-]+:\d+)>/.exec(body.toString("latin1", at, at + LABEL_BYTES_MAX))?.[1];
}
