import type { FileId } from "./codec/file-id.ts";

/** The part that all kinds of opens share. */
export abstract class OpenBase {
  readonly fileId: FileId;
  treeId: number;
  /** Made on demand, because most opens end without a waiting request. */
  #ending: AbortController | null = null;
  #isEnding = false;
  #uses = 0;
  #onLeave: (() => void) | null = null;

  constructor(fileId: FileId, treeId: number) {
    this.fileId = fileId;
    this.treeId = treeId;
  }

  /** Aborted when the open is about to be closed, to end all waits on it. */
  get ending(): AbortSignal {
    this.#ending ??= new AbortController();
    if (this.#isEnding) this.#ending.abort();
    return this.#ending.signal;
  }

  /** Call when a request begins to use it. */
  enter(): void {
    this.#uses++;
  }

  leave(): void {
    this.#uses--;
    this.#onLeave?.();
  }

  /** Aborts waiting requests, and resolves when at most `uses` requests use it. */
  async end(uses: number): Promise<void> {
    this.#isEnding = true;
    this.#ending?.abort();
    while (this.#uses > uses) {
      await new Promise<void>((resolve) => {
        this.#onLeave = resolve;
      });
    }
  }

  /** Releases what is behind it. */
  abstract close(): Promise<void>;
}
