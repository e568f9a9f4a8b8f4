import type { Bytes } from "../../base/bytes.ts";

/** What the text of an entry may take: tags and numbers, and what is spelled of its bytes. */
const TEXT_BYTES = 800;
const TEXT_BYTES_PER_BYTE = 2;

/** So much of memory is counted for the texts of so many entries, whether they are spelled or not. */
export function textBytesMax(entries: number, bytes: number): number {
  return TEXT_BYTES * entries + TEXT_BYTES_PER_BYTE * bytes;
}

/**
 * The texts of neighbouring entries in one spelling. They lie side by side in the order in which
 * they were kept, which is mostly that of the entries: so they are sent as one, without a copy.
 */
export class EntryTexts {
  readonly spelling: unknown;
  readonly #room: Bytes;
  #used = 0;
  readonly #texts: Bytes[] = [];

  constructor(spelling: unknown, bytesMax: number) {
    this.spelling = spelling;
    this.#room = Buffer.allocUnsafeSlow(bytesMax);
  }

  of(row: number): Bytes | null {
    return this.#texts[row] ?? null;
  }

  /** Returns the same text from where it is kept, or as it came if there is no room for it. */
  keep(row: number, text: Bytes): Bytes {
    const kept = this.#room.subarray(this.#used, this.#used + text.length);
    if (kept.length < text.length) return text;
    kept.set(text);
    this.#used += text.length;
    this.#texts[row] = kept;
    return kept;
  }
}
