import type { Bytes } from "../../../base/bytes.ts";
import { fairQueue, PIECE_BYTES } from "../../../base/fair-queue.ts";
import { LIST_BYTES_MAX } from "../../../base/limits.ts";
import type { HiddenFields } from "../field-versions.ts";
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
  /** Added since the last pause. */
  #added = 0;
  /** Added before it: characters of texts, and bytes. */
  #addedBefore = 0;
  readonly #hidden: HiddenFields | null;

  /** `hidden` is left out of all that is added as text. */
  constructor(hidden: HiddenFields | null) {
    this.#hidden = hidden;
  }

  /** Whether a list should end here, and leave the rest to another request. */
  get isFull(): boolean {
    return this.#addedBefore + this.#added >= LIST_BYTES_MAX;
  }

  /** An element is added whole, or is known to have nothing hidden in it. */
  add(xml: string): void {
    this.#endRun();
    this.#text += this.#hidden === null ? xml : this.#hidden.xmlWithout(xml);
    this.#added += xml.length;
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
    this.#added += xml.length;
  }

  /** Renders items one after another, and lets others run in between. */
  async addAll<T>(items: Iterable<T>, render: (item: T) => string): Promise<void> {
    for (const item of items) {
      this.add(render(item));
      const wait = this.next();
      if (wait !== undefined) await wait;
    }
  }

  /** To be asked behind each item of a list: undefined if the document can go on at once. */
  next(): Promise<void> | undefined {
    if (this.#added < PIECE_BYTES) return undefined;
    this.#addedBefore += this.#added;
    this.#added = 0;
    return fairQueue.next();
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
