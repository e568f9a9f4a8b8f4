/**
 * Percent-encoding of any UTF-16 units, halves of surrogate pairs too: those are written as if they
 * were characters of their own, in three bytes. What is proper text is written as everybody does.
 */
export function percentEncode(text: string): string {
  if (!LONE.test(text)) return encodeURIComponent(text);
  const parts = Array.from(text, (part) =>
    LONE.test(part) ? encodedHalf(part.charCodeAt(0)) : encodeURIComponent(part),
  );
  return parts.join("");
}

/** A half without the other one. */
const LONE = /[\ud800-\udfff]/u;

/** Null if it is none. */
export function percentDecode(encoded: string): string | null {
  if (!encoded.includes("%")) return encoded;
  try {
    if (!HALF.test(encoded)) return decodeURIComponent(encoded);
    return encoded.split(HALF).map(decodedPart).join("");
  } catch {
    return null;
  }
}

/** `%ED%A0%80` to `%ED%BF%BF` */
const HALF = /(%ED%[AB][0-9A-F]%[89AB][0-9A-F])/i;

function decodedPart(part: string): string {
  if (!HALF.test(part)) return decodeURIComponent(part);
  const [, second = 0, third = 0] = part
    .slice(1)
    .split("%")
    .map((byte) => Number.parseInt(byte, 16));
  return String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
}

function encodedHalf(unit: number): string {
  const second = 0x80 | ((unit >> 6) & 0x3f);
  const third = 0x80 | (unit & 0x3f);
  return `%ED%${second.toString(16).toUpperCase()}%${third.toString(16).toUpperCase()}`;
}
