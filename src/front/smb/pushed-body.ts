import type { Body, Bytes } from "../../base/bytes.ts";

type Take = Parameters<Body["drain"]>[0];

/** A body whose parts are pushed by the receiver of a frame. */
export class PushedBody implements Body {
  readonly length: number;
  readonly #unasked: Promise<void>;
  /** Resolves once everything pushed so far is taken; null if it is. */
  #busy: Promise<void> | null;
  #left: number;
  #take: Take = () => {};
  #asked: () => void = () => {};
  #succeed: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #isOver = false;

  constructor(length: number) {
    this.length = length;
    this.#left = length;
    this.#unasked = new Promise((resolve) => {
      this.#asked = resolve;
    });
    this.#busy = this.#unasked;
  }

  /** Whether all of it has arrived and is taken. */
  get isTaken(): boolean {
    return this.#left === 0;
  }

  drain(take: Take): Promise<void> {
    this.#take = take;
    return new Promise((resolve, reject) => {
      this.#succeed = resolve;
      this.#fail = reject;
      if (this.#busy === this.#unasked) this.#busy = null;
      this.#asked();
    });
  }

  /**
   * Returns nothing if the part was taken at once or is not wanted any more. Otherwise it must not
   * change until the promise resolves, and no more should be received until then.
   */
  push(part: Bytes): void | Promise<void> {
    const taken = this.#busy === null ? this.#hand(part) : this.#busy.then(() => this.#hand(part));
    if (taken === undefined) return;
    const busy = taken.then(() => {
      if (this.#busy === busy) this.#busy = null;
    });
    this.#busy = busy;
    return busy;
  }

  /** Ends the body early. A part that is being taken stays valid. */
  stop(error: unknown): void {
    this.#asked();
    if (this.#busy === null) this.#end(error);
    else this.#busy.then(() => this.#end(error));
  }

  #hand(part: Bytes): void | Promise<void> {
    if (this.#isOver) return;
    const taken = () => {
      this.#left -= part.length;
      if (this.#left === 0) this.#succeed();
    };
    try {
      const wait = this.#take(part);
      if (wait !== undefined) return wait.then(taken, (error) => this.#end(error));
      taken();
    } catch (error) {
      this.#end(error);
    }
  }

  #end(error: unknown): void {
    this.#isOver = true;
    this.#fail(error);
  }
}
