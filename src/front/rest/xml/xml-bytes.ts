import type { Bytes } from "../../../base/bytes.ts";

const PIECE_CHARS = 32 * 1024;

/**
 * A long document that becomes bytes while it is written. As one string it would be put together
 * from its many small parts first, and copied again to be sent.
 */
export class XmlBytes {
  readonly #pieces: Bytes[] = [];
  #text = "";

  add(xml: string): void {
    this.#text += xml;
    if (this.#text.length >= PIECE_CHARS) this.#flush();
  }

  addBytes(xml: Bytes): void {
    if (this.#text !== "") this.#flush();
    this.#pieces.push(xml);
  }

  done(): Bytes {
    this.#flush();
    return Buffer.concat(this.#pieces);
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#text, "utf8"));
    this.#text = "";
  }
}
