import type { Bytes } from "../../../base/bytes.ts";
import type { ResponseBody } from "../http/exchange.ts";
import { bodyOfPieces } from "../pieces-body.ts";

const PIECE_CHARS = 32 * 1024;

/**
 * A long document that becomes bytes while it is written. As one string it would be put together
 * from its many small parts first, and copied again to be sent.
 */
export class XmlBytes {
  readonly #pieces: Bytes[] = [];
  #text = "";
  /** Bytes that lie side by side, by the first of them and their length. */
  #run: Bytes | null = null;
  #runLength = 0;

  add(xml: string): void {
    this.#endRun();
    this.#text += xml;
    if (this.#text.length >= PIECE_CHARS) this.#endText();
  }

  /** They stay as they are, and where they are, until the document was sent. */
  addBytes(xml: Bytes): void {
    if (this.#run === null || !this.#isNext(this.#run, xml)) {
      this.#endText();
      this.#endRun();
      this.#run = xml;
    }
    this.#runLength += xml.length;
  }

  done(): ResponseBody {
    this.#endRun();
    this.#endText();
    return bodyOfPieces(this.#pieces);
  }

  #isNext(run: Bytes, xml: Bytes): boolean {
    return xml.buffer === run.buffer && xml.byteOffset === run.byteOffset + this.#runLength;
  }

  #endRun(): void {
    if (this.#run === null) return;
    this.#pieces.push(Buffer.from(this.#run.buffer, this.#run.byteOffset, this.#runLength));
    this.#run = null;
    this.#runLength = 0;
  }

  #endText(): void {
    if (this.#text === "") return;
    this.#pieces.push(Buffer.from(this.#text, "utf8"));
    this.#text = "";
  }
}
