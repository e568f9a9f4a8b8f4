import type { Timer } from "./cache-breaks.ts";

/** A timer whose time passes when a test says so. */
export class ManualTimer implements Timer {
  readonly #running = new Set<{ leftMs: number; done: () => void }>();

  start(ms: number, done: () => void): () => void {
    const one = { leftMs: ms, done };
    this.#running.add(one);
    return () => this.#running.delete(one);
  }

  get running(): number {
    return this.#running.size;
  }

  pass(ms: number): void {
    for (const one of [...this.#running]) {
      one.leftMs -= ms;
      if (one.leftMs > 0) continue;
      this.#running.delete(one);
      one.done();
    }
  }
}
