import type { Choice } from "../choice.ts";
import type { Amount, Item, Source } from "../item.ts";
import { AzuriteBlobs } from "./azurite-blobs.ts";
import { azuriteFiles } from "./azurite-folder.ts";
import { AzuriteQueues } from "./azurite-queues.ts";
import { azuriteTables } from "./azurite-tables.ts";
import { AzuriteExtents } from "./extents.ts";
import { readLokiFile } from "./loki-file.ts";

/** An account in a data folder of Azurite. Nothing in the folder changes. */
export class AzuriteSource implements Source {
  readonly #folder: string;
  readonly #account: string;
  readonly #choice: Choice;
  readonly #extents: readonly [blobs: AzuriteExtents, messages: AzuriteExtents];

  private constructor(
    folder: string,
    account: string,
    choice: Choice,
    extents: readonly [blobs: AzuriteExtents, messages: AzuriteExtents],
  ) {
    this.#folder = folder;
    this.#account = account;
    this.#choice = choice;
    this.#extents = extents;
  }

  static async open(folder: string, account: string, choice: Choice): Promise<AzuriteSource> {
    const files = azuriteFiles(folder);
    const blobs = await AzuriteExtents.read(files.blobExtents, files.blobBytes);
    const messages = await AzuriteExtents.read(files.queueExtents, files.queueBytes);
    return new AzuriteSource(folder, account, choice, [blobs, messages]);
  }

  async survey(): Promise<Amount> {
    const { blobs, queues, tables } = azuriteFiles(this.#folder);
    let [objects, bytes] = [0, 0];
    for (const file of [blobs, queues, tables]) {
      for await (const { document } of readLokiFile(file)) {
        objects++;
        const { contentLength } = (document.properties ?? {}) as { contentLength?: unknown };
        if (typeof contentLength === "number") bytes += contentLength;
      }
    }
    return { objects, bytes };
  }

  async *items(): AsyncGenerator<Item> {
    const files = azuriteFiles(this.#folder);
    const [blobExtents, messageExtents] = this.#extents;
    const blobs = new AzuriteBlobs(files.blobs, this.#account, blobExtents);
    const queues = new AzuriteQueues(files.queues, this.#account, messageExtents);
    const tables = azuriteTables(files.tables, this.#account);
    for (const items of [blobs.items(), queues.items(), tables]) {
      for await (const item of items) if (this.#choice.hasItem(item)) yield item;
    }
  }

  async close(): Promise<void> {
    for (const extents of this.#extents) await extents.close();
  }
}
