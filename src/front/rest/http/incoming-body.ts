import type { IncomingMessage } from "node:http";
import type { Body, Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { freeMemory } from "../../../base/free-memory.ts";
import type { ListenerLimits } from "./limits.ts";
import type { Pace, Transfer } from "./pace.ts";

/** Of a chunked body. The service demands lengths, and so do we: no handler ever sees this one. */
export const UNKNOWN_LENGTH = Number.POSITIVE_INFINITY;

type Take = (part: Bytes) => void | Promise<void>;

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
  constructor(message: IncomingMessage, pace: Pace, proceed: (() => void) | null) {
    this.length = lengthOf(message);
    this.#message = message;
    this.#pace = pace;
    this.#proceed = proceed;
  }

  get isHeldBack(): boolean {
    return this.#proceed !== null && !this.#asked;
  }

  /** Bytes that are still to come from the client. */
  get rest(): number {
    return this.#message.complete ? 0 : this.length - this.#moved;
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

  async drain(take: Take): Promise<void> {
    if (this.#asked) throw new Error("a body can be taken only once");
    this.#asked = true;
    if (this.length === 0) return;
    this.#proceed?.();
    // A small body that came together with its head is here once Node has dealt with that.
    await undefined;
    if (this.#message.readableLength === this.length) await this.#takeWhole(take);
    else await this.#takeParts(take);
  }

  /** Reads on and forgets what comes. True if the end was reached within the limits. */
  async discard(limits: ListenerLimits): Promise<boolean> {
    const bytesMax = this.#moved + limits.discardBytesMax;
    const idle = setTimeout(() => this.cut(), limits.discardIdleMs);
    try {
      await this.#takeParts(() => {
        idle.refresh();
        if (this.#moved > bytesMax) this.cut();
      });
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(idle);
    }
  }

  #takeWhole(take: Take): void | Promise<void> {
    this.#moved = this.length;
    return take(this.#message.read());
  }

  #takeParts(take: Take): Promise<void> {
    const message = this.#message;
    if (message.destroyed) return Promise.reject(new Fault("IncompleteBody"));
    return new Promise((resolve, reject) => {
      // While a part is being taken nothing else ends the drain: a taker is never left alone with
      // a part that it still works on.
      let taking = false;
      let refusal: Fault | null = null;
      const end = (): void => {
        this.#waiting = false;
        this.#stop = () => {};
        this.#pace.forget(this);
        message.off("data", onData).off("close", onClose);
      };
      const fail = (error: unknown): void => {
        message.pause();
        end();
        reject(error);
      };
      const taken = (): void => {
        taking = false;
        this.#waiting = true;
        if (refusal !== null) {
          fail(refusal);
        } else if (this.#moved === this.length) {
          end();
          resolve();
        }
      };
      const onData = (part: Bytes): void => {
        this.#moved += part.length;
        taking = true;
        try {
          const wait = take(part);
          if (wait === undefined) {
            freeMemory(part);
            taken();
          } else {
            this.#waiting = false;
            message.pause();
            const goOn = () => {
              freeMemory(part);
              message.resume();
            };
            wait.then(goOn).then(taken, fail);
          }
        } catch (error) {
          fail(error);
        }
      };
      // Node closes a message as soon as its last part is handed out, taken or not.
      const onClose = (): void => {
        if (this.#moved < this.length) this.#stop(new Fault("IncompleteBody"));
      };

      this.#stop = (fault) => {
        refusal ??= fault;
        if (!taking) fail(refusal);
      };
      this.#waiting = true;
      this.#pace.watch(this);
      message.on("close", onClose).on("data", onData).resume();
    });
  }
}

function lengthOf({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return UNKNOWN_LENGTH;
  return Number(headers["content-length"] ?? 0);
}
