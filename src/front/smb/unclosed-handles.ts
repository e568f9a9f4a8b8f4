import type { HandleAsked } from "../../service/file/admit-handle.ts";
import { closeHandle } from "../../service/file/close-handle.ts";
import type { FileContext } from "../../service/file/context.ts";
import { StoreError, type StoreErrorKind } from "../../store/store.ts";

/** When to try again. */
const AGAIN_MS = 1_000;
/** After these, the process goes on, and so do the handles. */
const PASSING: ReadonlySet<StoreErrorKind> = new Set(["unreachable", "unknown", "full"]);

/**
 * Handles without a client that the store could not close when it was asked to. They are closed as
 * soon as it can: until then they keep others away from their files.
 */
export class UnclosedHandles {
  readonly #files: FileContext;
  readonly #stops = new Set<() => void>();
  #isOver = false;

  constructor(files: FileContext) {
    this.#files = files;
  }

  /** Closes a handle if this error does not keep the store from it for ever. */
  closeAfter(error: unknown, asked: HandleAsked, isWritten: boolean): void {
    if (this.#isOver || !(error instanceof StoreError) || !PASSING.has(error.kind)) return;
    const stop = this.#files.breaks.timer.start(AGAIN_MS, () => {
      this.#stops.delete(stop);
      void this.#close(asked, isWritten);
    });
    this.#stops.add(stop);
  }

  /** Leaves the rest to whoever ends the handles of this process. */
  stop(): void {
    this.#isOver = true;
    for (const stop of this.#stops) stop();
  }

  async #close(asked: HandleAsked, isWritten: boolean): Promise<void> {
    try {
      await closeHandle(this.#files, asked, isWritten);
    } catch (error) {
      // A refusal says that the handle is closed, or deleted with its share.
      this.closeAfter(error, asked, isWritten);
    }
  }
}
