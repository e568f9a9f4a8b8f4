import type { Bytes } from "../base/bytes.ts";
import type { ChangeListener } from "../store/store.ts";

/** The listeners of an engine. An engine asks `areThere` before it gathers keys for them. */
export class ChangeListeners {
  readonly #listeners = new Set<ChangeListener>();

  get areThere(): boolean {
    return this.#listeners.size > 0;
  }

  /** Returns the function that ends it. A listener that is added twice is called twice. */
  add(listener: ChangeListener): () => void {
    const own: ChangeListener = (keys) => listener(keys);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  tell(keys: readonly Bytes[] | null): void {
    for (const listener of [...this.#listeners]) listener(keys);
  }
}
