import type { Bytes } from "../../../base/bytes.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";

export const JSON_CONTENT = ["Content-Type", "application/json;charset=utf-8"];

/** A long list in JSON: `{"paths":[…]}`. */
export class JsonList {
  readonly #text = new XmlBytes(null);
  #isEmpty = true;

  constructor(name: string) {
    this.#text.add(`{"${name}":[`);
  }

  /** Whether the list should end here and leave the rest to the next request. */
  get isFull(): boolean {
    return this.#text.isFull;
  }

  async addAll<T>(items: Iterable<T>, shownAs: (item: T) => object): Promise<void> {
    await this.#text.addAll(items, (item) => {
      const comma = this.#isEmpty ? "" : ",";
      this.#isEmpty = false;
      return comma + JSON.stringify(shownAs(item));
    });
  }

  /** Adds items as their texts, each of which begins with a comma. */
  async addTexts<T>(items: Iterable<T>, textOf: (item: T) => Bytes): Promise<void> {
    for (const item of items) {
      const text = textOf(item);
      this.#text.addBytes(this.#isEmpty ? text.subarray(1) : text);
      this.#isEmpty = false;
      const wait = this.#text.next();
      if (wait !== undefined) await wait;
    }
  }

  answer(headers: readonly string[]): RestResponse {
    this.#text.add("]}\n");
    return { status: 200, headers: [...headers, ...JSON_CONTENT], body: this.#text.done() };
  }
}
