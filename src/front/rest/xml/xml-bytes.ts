import type { Bytes } from "../../../base/bytes.ts";
import { fairQueue, PIECE_BYTES } from "../../../base/fair-queue.ts";
import { LIST_BYTES_MAX } from "../../../base/limits.ts";
import type { HiddenFields } from "../field-versions.ts";
import type { ResponseBody } from "../http/exchange.ts";
import type { Rendering } from "../http/rendering.ts";
import { bodyOfPieces } from "../pieces-body.ts";

const PIECE_CHARS = 32 * 1024;

/**
 * A long document that is encoded while it is written. One string would be concatenated from many
 * small parts first, and copied again when sent.
 */
export class XmlBytes {
  readonly #pieces: Bytes[] = [];
  #text = "";
  /** A run of adjacent bytes, by its first part and its length. */
  #run: Bytes | null = null;
  #runLength = 0;
  /** Bytes added since the last pause. */
  #added = 0;
  /** Characters and bytes added before the last pause. */
  #addedBefore = 0;
  readonly #hidden: HiddenFields | null;
  readonly #rendering: Rendering | undefined;

  /** Leaves `hidden` out of everything added as text. */
  constructor(hidden: HiddenFields | null, rendering?: Rendering) {
    this.#hidden = hidden;
    this.#rendering = rendering;
  }

  /** Whether a list should end here and leave the rest to the next request. */
  get isFull(): boolean {
    return this.#addedBefore + this.#added >= LIST_BYTES_MAX;
  }

  /** Adds XML. An element with hidden fields must be added whole. */
  add(xml: string): void {
    this.#endRun();
    this.#text += this.#hidden === null ? xml : this.#hidden.xmlWithout(xml);
    this.#added += xml.length;
    if (this.#text.length >= PIECE_CHARS) this.#endText();
  }

  /** Adds bytes without copying. They must not change until the document is sent. */
  addBytes(xml: Bytes): void {
    if (this.#run === null || !this.#isNext(this.#run, xml)) {
      this.#endText();
      this.#endRun();
      this.#run = xml;
    }
    this.#runLength += xml.length;
    this.#added += xml.length;
  }

  /** Renders items in order, and lets other work run in between. */
  async addAll<T>(items: Iterable<T>, render: (item: T) => string): Promise<void> {
    for (const item of items) {
      this.add(render(item));
      const wait = this.next();
      if (wait !== undefined) await wait;
    }
  }

  /** Call after each item of a list: returns undefined if no pause is due. */
  next(): Promise<void> | undefined {
    if (this.#added < PIECE_BYTES) return undefined;
    this.#addedBefore += this.#added;
    this.#added = 0;
    return this.#rendering?.grownTo(this.#addedBefore) ?? fairQueue.next();
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
