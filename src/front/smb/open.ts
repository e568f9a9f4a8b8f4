import type { FileId } from "./codec/file-id.ts";
import type { FileOpen } from "./file-open.ts";
import type { PipeOpen } from "./rpc/pipe.ts";

/** What a client has open, by the kind of tree it lies in. */
export type Open = PipeOpen | FileOpen;

/** Common to all kinds. */
export abstract class OpenBase {
  readonly fileId: FileId;
  treeId: number;
  /** Made when somebody waits: most opens end without. */
  #ending: AbortController | null = null;
  #isEnding = false;
  #uses = 0;
  #onLeave: (() => void) | null = null;

  constructor(fileId: FileId, treeId: number) {
    this.fileId = fileId;
    this.treeId = treeId;
  }

  /** Aborted when it is about to be closed: whoever waits for something here waits no longer. */
  get ending(): AbortSignal {
    this.#ending ??= new AbortController();
    if (this.#isEnding) this.#ending.abort();
    return this.#ending.signal;
  }

  /** A request begins to work on it. */
  enter(): void {
    this.#uses++;
  }

  leave(): void {
    this.#uses--;
    this.#onLeave?.();
  }

  /** Resolves when no more than `uses` requests work on it, and none that waits. */
  async end(uses: number): Promise<void> {
    this.#isEnding = true;
    this.#ending?.abort();
    while (this.#uses > uses) {
      await new Promise<void>((resolve) => {
        this.#onLeave = resolve;
      });
    }
  }

  /** Lets go of what stands behind it. */
  abstract close(): Promise<void>;
}
