import type { IncomingMessage } from "node:http";
import type { Body, Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { ListenerLimits } from "./limits.ts";
import type { Pace, Transfer } from "./pace.ts";

/**
 * The body of a request on its way in. Nothing is read ahead of the taker beyond what the socket
 * has buffered (some 64 KiB), so memory does not grow with slow disks or many uploads.
 */
export class IncomingBody implements Body, Transfer {
  readonly length: number;
  readonly #message: IncomingMessage;
  readonly #pace: Pace;
  readonly #proceed: (() => void) | null;
  #asked = false;
  #moved = 0;
  #waiting = false;
  #stop: (fault: Fault) => void = () => {};

  /** `proceed` gives a client that waits for it leave to send the body. */
  constructor(
    message: IncomingMessage,
    length: number,
    pace: Pace,
    proceed: (() => void) | null = null,
  ) {
    this.length = length;
    this.#message = message;
    this.#pace = pace;
    this.#proceed = proceed;
  }

  /** Bytes that are still to come from the client. */
  get rest(): number {
    return this.#message.complete ? 0 : this.length - this.#moved;
  }

  /** Whether the client still waits for leave to send the body. */
  get withheld(): boolean {
    return this.#proceed !== null && !this.#asked;
  }

  get moved(): number {
    return this.#moved;
  }

  get waiting(): boolean {
    return this.#waiting;
  }

  cut(): void {
    this.#stop(new Fault("OperationTimedOut"));
  }

  drain(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    if (this.#asked) return Promise.reject(new Error("a body can be taken only once"));
    this.#asked = true;
    if (this.length === 0) return Promise.resolve();
    this.#proceed?.();
    return this.#message.readableLength === this.length
      ? this.#takeWhole(take)
      : this.#takeParts(take);
  }

  /** A small body has often come together with its head. */
  async #takeWhole(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    this.#moved = this.length;
    await take(this.#message.read());
  }

  #takeParts(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const message = this.#message;
      // Set while a part is being taken, and then no event ends the drain: a taker is never left
      // alone with a part that it still works on.
      let taking = false;
      let refusal: Fault | null = null;
      const end = (settle: () => void): void => {
        this.#waiting = false;
        this.#stop = () => {};
        this.#pace.forget(this);
        message.off("data", onData).off("close", onClose);
        settle();
      };
      const fail = (error: unknown): void => {
        message.pause();
        end(() => reject(error));
      };
      const stop = (fault: Fault): void => {
        refusal ??= fault;
        if (!taking) fail(refusal);
      };
      const next = (): void => {
        taking = false;
        if (refusal !== null) return fail(refusal);
        if (this.#moved === this.length) return end(resolve);
        this.#waiting = true;
      };
      const onData = (part: Bytes): void => {
        this.#moved += part.length;
        taking = true;
        let taken: void | Promise<void>;
        try {
          taken = take(part);
        } catch (error) {
          return fail(error);
        }
        if (taken === undefined) return next();
        this.#waiting = false;
        message.pause();
        taken.then(() => {
          message.resume();
          next();
        }, fail);
      };
      const onClose = (): void => stop(new Fault("IncompleteBody"));

      if (message.destroyed) return reject(new Fault("IncompleteBody"));
      this.#waiting = true;
      this.#stop = stop;
      this.#pace.watch(this);
      message.on("close", onClose).on("data", onData).resume();
    });
  }

  /** Reads on and forgets what comes. True if the end was reached within the limits. */
  discard(limits: ListenerLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const message = this.#message;
      const bytesMax = this.#moved + limits.discardBytesMax;
      const end = (): void => {
        clearTimeout(idle);
        this.#waiting = false;
        this.#pace.forget(this);
        message.off("data", onData).off("close", end);
        resolve(this.#moved === this.length);
      };
      const onData = (part: Bytes): void => {
        this.#moved += part.length;
        idle.refresh();
        if (this.#moved === this.length || this.#moved > bytesMax) end();
      };

      const idle = setTimeout(end, limits.discardIdleMs);
      this.#asked = true;
      this.#waiting = true;
      this.#stop = end;
      this.#pace.watch(this);
      message.on("close", end).on("data", onData).resume();
      if (message.destroyed) end();
    });
  }
}
