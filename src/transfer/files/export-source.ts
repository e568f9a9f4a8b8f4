import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Choice } from "../choice.ts";
import type { Amount, Body, Item, Source } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import { checkedBody } from "./checked-body.ts";
import type { FileTree } from "./file-tree.ts";
import { hasShapeOfItem } from "./item-shape.ts";
import {
  endOf,
  itemOf,
  MANIFEST_NAME,
  type ManifestStart,
  noLine,
  parse,
  readFirstLine,
  type StoredBody,
} from "./manifest.ts";

/** An export, read back. Every body is compared with its digest. */
export class ExportSource implements Source {
  readonly #tree: FileTree;
  readonly #manifest: Body;
  readonly #choice: Choice;

  private constructor(tree: FileTree, manifest: Body, choice: Choice) {
    this.#tree = tree;
    this.#manifest = manifest;
    this.#choice = choice;
  }

  /** Null if there is no manifest. */
  static async open(tree: FileTree, choice: Choice): Promise<ExportSource | null> {
    const manifest = await tree.body(MANIFEST_NAME);
    return manifest === null ? null : new ExportSource(tree, manifest, choice);
  }

  async survey(): Promise<Amount> {
    let [objects, bytes] = [0, 0];
    for await (const line of this.#lines()) {
      const { revisions = [], body } = line as { revisions?: { body: Body }[]; body?: Body };
      objects++;
      for (const one of [...revisions.map((revision) => revision.body), body]) {
        bytes += one?.bytes ?? 0;
      }
    }
    return { objects, bytes };
  }

  async *items(): AsyncGenerator<Item> {
    for await (const line of this.#lines()) {
      const item = itemOf(line, (stored, until) => this.#bodyOf(stored, until));
      if (this.#choice.hasItem(item)) yield item;
    }
  }

  async close(): Promise<void> {
    await this.#tree.close();
  }

  /** The lines between the first and the last one. Throws if the last one is missing. */
  async *#lines(): AsyncGenerator<object> {
    const input = Readable.from(this.#manifest.read());
    let start: ManifestStart | null = null;
    let at = 0;
    let end: number | null = null;
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      at++;
      if (start === null) {
        start = readFirstLine(text, MANIFEST_NAME);
        continue;
      }
      if (end !== null) break;
      const line = parse(text, MANIFEST_NAME, at);
      end = endOf(line);
      if (end !== null) continue;
      if (!hasShapeOfItem(line)) throw noLine(MANIFEST_NAME, at);
      yield line;
    }
    if (end === null) throw new TransferError(`${MANIFEST_NAME} is cut short. Export again.`);
    // Before the items are the first line, and behind them the last one.
    if (end !== at - 2) {
      throw new TransferError(
        `${MANIFEST_NAME} does not have the ${end} items that its last line names. Export again.`,
      );
    }
  }

  #bodyOf({ file, bytes, sha256 }: StoredBody, until: number): Body {
    const stored: Body = {
      bytes,
      read: (from, count) => this.#read(file, bytes, from, count),
    };
    return checkedBody(stored, sha256, until, file);
  }

  async *#read(file: string, bytes: number, from?: number, count?: number) {
    const body = await this.#tree.body(file);
    if (body === null) throw new TransferError(`${file} is missing in the export.`);
    if (body.bytes !== bytes) {
      throw new TransferError(`${file} has ${body.bytes} bytes, and ${bytes} in the manifest.`);
    }
    yield* body.read(from, count);
  }
}
