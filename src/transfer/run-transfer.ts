import {
  type Amount,
  amountOf,
  type Item,
  isBehindAll,
  isStructure,
  nameOf,
  type Sink,
  type Source,
} from "./item.ts";
import { TransferError } from "./transfer-error.ts";

export interface TransferOptions {
  /** Items that are written at the same time. */
  readonly parallel: number;
  readonly onProgress: (done: Amount) => void;
  /** Learns of each object that is not written, with the reason. */
  readonly onFailure: (name: string, reason: string) => void;
  /** Ends the transfer after the items that are being written. */
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
  const running = new Set<Promise<void>>();
  const state = { objects: 0, bytes: 0, skipped: 0, failed: 0 };
  let broken: unknown;
  const write = async (item: Item) => {
    const amount = amountOf(item);
    try {
      if ((await sink.put(item)) === "skipped") state.skipped += amount.objects;
      else state.objects += amount.objects;
    } catch (error) {
      if (!(error instanceof TransferError) || isStructure(item)) throw error;
      state.failed += amount.objects;
      options.onFailure(nameOf(item), error.message);
    }
    state.bytes += amount.bytes;
    options.onProgress({ objects: state.objects + state.skipped, bytes: state.bytes });
  };
  try {
    for await (const item of source.items()) {
      if (options.signal.aborted || broken !== undefined) break;
      if (isBehindAll(item)) await Promise.all(running);
      // The order of messages counts.
      if (isStructure(item) || item.kind === "messages") {
        await write(item);
        continue;
      }
      const job: Promise<void> = write(item).then(
        () => void running.delete(job),
        (error) => {
          running.delete(job);
          broken ??= error;
        },
      );
      running.add(job);
      if (running.size >= options.parallel) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (broken !== undefined) throw broken;
  return { ...state, isStopped: options.signal.aborted };
}
