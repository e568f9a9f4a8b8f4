import { Fault } from "../../base/fault.ts";
import type { FileContext } from "../../service/file/context.ts";
import { getOpenCaching } from "../../service/file/get-open-caching.ts";
import type { Durability } from "./durability.ts";
import type { FileOpen } from "./file-open.ts";
import type { SmbLog } from "./smb-log.ts";

/** Opens whose clients have lost their connections and may reconnect. */
export class DurableOpens {
  readonly #waiting = new Map<number, { readonly open: FileOpen; readonly stop: () => void }>();
  readonly #files: FileContext;
  readonly #opensMax: number;
  readonly #log: SmbLog;

  constructor(files: FileContext, opensMax: number, log: SmbLog) {
    this.#files = files;
    this.#opensMax = opensMax;
    this.#log = log;
  }

  /** Preserves an open without a connection until its timeout; false if it cannot. */
  preserve(open: FileOpen): boolean {
    if (open.durability === null || this.#waiting.size >= this.#opensMax) return false;
    const stop = this.#files.breaks.timer.start(
      open.durability.timeoutMs,
      () => void this.end(open),
    );
    this.#waiting.set(open.fileId.persistent, { open, stop });
    if (!open.durability.isPersistent) void this.#confirm(open);
    return true;
  }

  /** The waiting open with this id, or null. */
  find(persistent: number): FileOpen | null {
    return this.#waiting.get(persistent)?.open ?? null;
  }

  /** Gives an open to its reconnected client; false if another call was faster. */
  take(open: FileOpen): boolean {
    this.#waiting.get(open.fileId.persistent)?.stop();
    return this.#waiting.delete(open.fileId.persistent);
  }

  /** Ends an open because another client needs the file. */
  yield(open: FileOpen): void {
    if (open.durability?.isPersistent !== true) void this.end(open);
  }

  /** Closes an open for which no client will return. */
  async end(open: FileOpen): Promise<void> {
    if (this.take(open)) await this.#close(open);
  }

  /** Closes the opens of clients that can no longer return. */
  endIf(isOver: (durability: Durability) => boolean): void {
    for (const { open } of [...this.#waiting.values()]) {
      if (open.durability !== null && isOver(open.durability)) void this.end(open);
    }
  }

  /** Closes all opens when the server stops; persistent ones wait for the next process. */
  async close(): Promise<void> {
    const ends = [...this.#waiting.values()].map(async ({ open }) => {
      if (this.take(open) && open.durability?.isPersistent !== true) await this.#close(open);
    });
    await Promise.all(ends);
  }

  /** Ends an open whose caching was being broken: its lost client cannot acknowledge that. */
  async #confirm(open: FileOpen): Promise<void> {
    try {
      const caching = await getOpenCaching(this.#files, open.asked);
      if (caching === null || caching.isBreaking) await this.end(open);
    } catch (error) {
      if (error instanceof Fault) await this.end(open);
      else this.#log.failure("keeping a durable handle", error);
    }
  }

  async #close(open: FileOpen): Promise<void> {
    try {
      await open.end(0);
      await open.close();
    } catch (error) {
      // Already closed elsewhere, or deleted with its share.
      if (!(error instanceof Fault)) this.#log.failure("closing a durable handle", error);
    }
  }
}
