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
  #stops = new Set<() => void>();

  constructor(files: FileContext) {
    this.#files = files;
  }

  /** Closes a handle if this error does not keep the store from it for ever. */
  closeAfter(error: unknown, asked: HandleAsked, isWritten: boolean): void {
    this.#closeLater(error, asked, isWritten, this.#stops);
  }

  /** Leaves those so far to others, which end all handles that this process has had till now. */
  forget(): void {
    const stops = this.#stops;
    this.#stops = new Set();
    for (const stop of stops) stop();
  }

  #closeLater(
    error: unknown,
    asked: HandleAsked,
    isWritten: boolean,
    stops: Set<() => void>,
  ): void {
    const isForgotten = stops !== this.#stops;
    if (isForgotten || !(error instanceof StoreError) || !PASSING.has(error.kind)) return;
    const stop = this.#files.breaks.timer.start(AGAIN_MS, () => {
      stops.delete(stop);
      closeHandle(this.#files, asked, isWritten).catch((again) => {
        // A refusal says that the handle is closed, or deleted with its share.
        this.#closeLater(again, asked, isWritten, stops);
      });
    });
    stops.add(stop);
  }
}
