import type { Bytes } from "../../base/bytes.ts";

/** Memory reserved for an entry's text: tags and numbers, and a multiple of its record's bytes. */
const TEXT_BYTES = 800;
const TEXT_BYTES_PER_BYTE = 2;

/** Memory counted for the texts of a page of entries, rendered or not. */
export function textBytesMax(entries: number, bytes: number): number {
  return TEXT_BYTES * entries + TEXT_BYTES_PER_BYTE * bytes;
}

/**
 * The rendered texts of neighbouring entries, in one format. They lie side by side in the order in
 * which they were added, mostly that of the entries, so a list sends them as one buffer.
 */
export class EntryTexts {
  readonly format: unknown;
  readonly #room: Bytes;
  #used = 0;
  readonly #texts: Bytes[] = [];

  constructor(format: unknown, bytesMax: number) {
    this.format = format;
    this.#room = Buffer.allocUnsafeSlow(bytesMax);
  }

  of(row: number): Bytes | null {
    return this.#texts[row] ?? null;
  }

  /** Caches a text and returns the cached copy, or the text itself if there is no room. */
  keep(row: number, text: Bytes): Bytes {
    const cached = this.#room.subarray(this.#used, this.#used + text.length);
    if (cached.length < text.length) return text;
    cached.set(text);
    this.#used += text.length;
    this.#texts[row] = cached;
    return cached;
  }
}
