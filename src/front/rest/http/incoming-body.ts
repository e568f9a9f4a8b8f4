import { type Body, type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { Pace, Transfer } from "../../pace.ts";
import type { WaitingWork } from "../../waiting-work.ts";
import type { Connection, Receiver } from "./connection.ts";
import type { ListenerLimits } from "./limits.ts";

type Take = (part: Bytes) => void | Promise<void>;

/**
 * The body of a request on its way in. Nothing is read ahead of the taker beyond what the connection
 * holds (some 72 KiB), so memory does not grow with slow disks or many uploads.
 */
export class IncomingBody implements Body, Transfer {
  readonly length: number;
  readonly #connection: Connection;
  readonly #pace: Pace;
  readonly #proceed: (() => void) | null;
  #work: WaitingWork | null;
  #asked = false;
  #moved = 0;
  #waiting = false;
  #stop: (fault: Fault) => void = () => {};

  /**
   * `proceed` gives a client that waits for it leave to send the body. Time in which the client has to send does not
   * count as `work`.
   */
  constructor(
    connection: Connection,
    length: number,
    pace: Pace,
    work: WaitingWork,
    proceed: (() => void) | null,
  ) {
    this.length = length;
    this.#connection = connection;
    this.#pace = pace;
    this.#work = work;
    this.#proceed = proceed;
  }

  get isHeldBack(): boolean {
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

  takeWhole(): Bytes | null {
    if (this.#asked || this.length === 0 || !this.#connection.holds(this.length)) return null;
    this.#asked = true;
    this.#moved = this.length;
    return this.#connection.takeHeld(this.length);
  }

  takePages(bytes: number): Bytes | null {
    if (this.#asked || this.length === 0) return null;
    const pages = this.#connection.takePages(this.length, bytes);
    if (pages === null) return null;
    this.#asked = true;
    this.#moved = this.length;
    return pages;
  }

  async drain(take: Take): Promise<void> {
    if (this.#asked) throw new Error("a body can be taken only once");
    const whole = this.takeWhole();
    if (whole !== null) {
      await take(whole);
      return;
    }
    this.#asked = true;
    if (this.length === 0) return;
    this.#proceed?.();
    // The first part does not come before the caller knows that it has asked.
    await undefined;
    await this.#takeParts(take);
  }

  /** Bytes that are still to come from the client. What is here to the end is forgotten. */
  skip(): number {
    const rest = this.length - this.#moved;
    if (!this.#connection.holds(rest)) return rest;
    this.#connection.takeHeld(rest);
    this.#moved = this.length;
    return 0;
  }

  /** Reads on and forgets what comes. True if the end was reached within the limits. */
  async discard(limits: ListenerLimits): Promise<boolean> {
    const bytesMax = this.#moved + limits.discardBytesMax;
    // The request has its answer.
    this.#work = null;
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

  #wait(isWaiting: boolean): void {
    if (this.#waiting === isWaiting) return;
    this.#waiting = isWaiting;
    if (isWaiting) this.#work?.end();
    else this.#work?.begin();
  }

  #takeParts(take: Take): Promise<void> {
    const connection = this.#connection;
    return new Promise((resolve, reject) => {
      // While a part is being taken nothing else ends the drain: a taker is never left alone with
      // a part that it still works on.
      let taking = false;
      let refusal: Fault | null = null;
      let surplus = NO_BYTES;
      const end = (): void => {
        this.#wait(false);
        this.#stop = () => {};
        this.#pace.forget(this);
        connection.stopReceiving(surplus);
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      const taken = (): void => {
        taking = false;
        this.#wait(true);
        if (refusal !== null) {
          fail(refusal);
        } else if (this.#moved === this.length) {
          end();
          resolve();
        }
      };
      const takeOne = (part: Bytes): Promise<unknown> | null => {
        this.#moved += part.length;
        taking = true;
        try {
          const wait = take(part);
          if (wait === undefined) {
            taken();
            return null;
          }
          this.#wait(false);
          connection.socket.pause();
          return wait.then(() => connection.socket.resume()).then(taken, fail);
        } catch (error) {
          fail(error);
          return null;
        }
      };
      const receiver: Receiver = {
        take: (part) => {
          const rest = this.length - this.#moved;
          if (part.length > rest) surplus = part.subarray(rest);
          return takeOne(part.length > rest ? part.subarray(0, rest) : part);
        },
        end: () => {
          if (this.#moved < this.length) this.#stop(new Fault("IncompleteBody"));
        },
      };

      this.#stop = (fault) => {
        refusal ??= fault;
        if (!taking) fail(refusal);
      };
      this.#wait(true);
      this.#pace.watch(this);
      connection.receive(receiver);
    });
  }
}
