import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import {
  type Amount,
  amountOf,
  type BlobItem,
  type Body,
  type Item,
  isBehindAll,
  isStructure,
  nameOf,
  type Sink,
  type Source,
  type Written,
} from "./item.ts";
import { LeftOutError, TransferError } from "./transfer-error.ts";

/** Small blobs that are written together: enough that what each request costs is little. */
const MANY_ITEMS_MAX = 128;
const MANY_BYTES_MAX = 1024 * 1024;
/** How often so many are on their way. */
const MANY_PARALLEL_MAX = 4;
/** Progress tells how much of a longer body is done, and of a shorter one only when all of it is. */
const COUNTED_BYTES_MIN = 16 * MIB;

export interface TransferOptions {
  /** Items that are written at the same time. */
  readonly parallel: number;
  readonly onProgress: (done: Amount) => void;
  /** Learns of each object that is not written, with the reason. */
  readonly onFailure: (name: string, reason: string) => void;
  /** Ends the transfer after the items that are being written, and those that complete them. */
  readonly signal: AbortSignal;
}

export interface TransferDone extends Amount {
  readonly skipped: number;
  readonly failed: number;
  readonly isStopped: boolean;
}

/**
 * Moves all items from a source to a sink. What holds others is written before the next item is
 * read; the rest in parallel. Throws at an error of the source, or of what holds others.
 */
export async function runTransfer(
  source: Source,
  sink: Sink,
  options: TransferOptions,
): Promise<TransferDone> {
  const transfer = new Transfer(sink, options);
  try {
    for await (const item of source.items()) {
      if (transfer.isBroken) break;
      if (options.signal.aborted && sink.completes?.(item) !== true) {
        // Azurite mixes the messages of its queues.
        if (item.kind === "messages") continue;
        break;
      }
      await transfer.add(item);
    }
    if (!options.signal.aborted) await transfer.sendGathered();
  } finally {
    await transfer.settle();
  }
  return transfer.done();
}

class Transfer {
  readonly #sink: Sink;
  readonly #options: TransferOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #state = { objects: 0, bytes: 0, skipped: 0, failed: 0 };
  #broken: unknown;
  /** Wakes the reader of items when one of the running ones has ended. */
  #onRoom: (() => void) | null = null;
  /** Small blobs of one container that will be written together. */
  #gathered: BlobItem[] = [];
  #gatheredBytes = 0;

  constructor(sink: Sink, options: TransferOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  async add(item: Item): Promise<void> {
    if (this.#sink.isForMany?.(item) === true) return this.#gather(item);
    if (isStructure(item)) await this.sendGathered();
    if (isBehindAll(item)) await this.settle();
    // The order of messages counts.
    if (isStructure(item) || item.kind === "messages") await this.#put(item);
    else await this.#start(this.#put(item), this.#options.parallel);
  }

  async #gather(item: BlobItem): Promise<void> {
    const { bytes } = amountOf(item);
    const [first = item] = this.#gathered;
    const isFull =
      this.#gathered.length === MANY_ITEMS_MAX || this.#gatheredBytes + bytes > MANY_BYTES_MAX;
    if (isFull || first.container !== item.container) await this.sendGathered();
    this.#gathered.push(item);
    this.#gatheredBytes += bytes;
  }

  async sendGathered(): Promise<void> {
    const items = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (items.length === 0) return;
    const { parallel } = this.#options;
    await this.#start(this.#putMany(items), Math.min(parallel, MANY_PARALLEL_MAX));
  }

  /** Resolves when there is room for another one. */
  async #start(writing: Promise<void>, parallel: number): Promise<void> {
    const end = () => {
      this.#running.delete(job);
      this.#onRoom?.();
    };
    const job: Promise<void> = writing.then(end, (error) => {
      this.#broken ??= error;
      end();
    });
    this.#running.add(job);
    if (this.#running.size < parallel) return;
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #put(item: Item): Promise<void> {
    let done: Written | TransferError;
    // What is read of it, which the whole replaces when it is written.
    let read = 0;
    const onRead = (bytes: number) => {
      const more = Math.min(bytes, amountOf(item).bytes - read);
      read += more;
      this.#addBytes(more);
    };
    try {
      done = await this.#sink.put(counted(item, onRead));
    } catch (error) {
      const isOnlyItself = !isStructure(item) || error instanceof LeftOutError;
      if (!(error instanceof TransferError) || !isOnlyItself) throw error;
      done = error;
    }
    this.#state.bytes -= read;
    this.#count(item, done);
  }

  async #putMany(items: readonly BlobItem[]): Promise<void> {
    const done = (await this.#sink.putMany?.(items)) ?? [];
    for (const [at, item] of items.entries()) this.#count(item, done[at] as Written);
  }

  #count(item: Item, done: Written | TransferError): void {
    const state = this.#state;
    const { objects, bytes } = amountOf(item);
    if (done instanceof TransferError) {
      state.failed += objects;
      this.#options.onFailure(nameOf(item), done.message);
    } else if (done === "skipped") state.skipped += objects;
    else state.objects += objects;
    this.#addBytes(bytes);
  }

  #addBytes(bytes: number): void {
    const state = this.#state;
    state.bytes += bytes;
    this.#options.onProgress({ objects: state.objects + state.skipped, bytes: state.bytes });
  }

  done(): TransferDone {
    if (this.#broken !== undefined) throw this.#broken;
    return { ...this.#state, isStopped: this.#options.signal.aborted };
  }
}

/** The item with its long bodies counted as they are read. Repeated reads may count too much. */
function counted(item: Item, onRead: (bytes: number) => void): Item {
  if (item.kind === "file") return { ...item, body: countedBody(item.body, onRead) };
  if (item.kind !== "blob" || amountOf(item).bytes < COUNTED_BYTES_MIN) return item;
  const revisions = item.revisions.map((one) => ({ ...one, body: countedBody(one.body, onRead) }));
  return { ...item, revisions };
}

function countedBody(body: Body, onRead: (bytes: number) => void): Body {
  if (body.bytes < COUNTED_BYTES_MIN) return body;
  return {
    bytes: body.bytes,
    async *read(from?: number, count?: number): AsyncGenerator<Bytes> {
      for await (const part of body.read(from, count)) {
        yield part;
        onRead(part.length);
      }
    },
  };
}
