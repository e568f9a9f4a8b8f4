import { type Body, type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { Pace, Transfer } from "../../pace.ts";
import type { WaitingWork } from "../../waiting-work.ts";
import type { ListenerLimits } from "./limits.ts";
import type { Receiver, Wire } from "./wire.ts";

type Take = (part: Bytes) => void | Promise<void>;

type BodyState = "unread" | "receiving" | "taking" | "ended";

/**
 * The body of a request on its way in. Only what the connection holds (some 72 KiB) is read ahead of
 * the taker, so memory does not grow with slow disks or many uploads.
 *
 * | state     | event                                   | does                     | next      |
 * |-----------|-----------------------------------------|--------------------------|-----------|
 * | unread    | `takeWhole`: all is here                | hands the bytes over     | ended     |
 * | unread    | `drain`                                 | asks the client to send  | receiving |
 * | receiving | a part comes                            | calls the taker          | taking    |
 * | receiving | the client ends, or is too slow         | rejects                  | ended     |
 * | taking    | the client ends, or is too slow         | notes the fault          | taking    |
 * | taking    | the taker is done: fault noted          | rejects                  | ended     |
 * | taking    | the taker is done: bytes are missing    | waits for the next part  | receiving |
 * | taking    | the taker is done: all bytes have come  | resolves                 | ended     |
 * | taking    | the taker throws                        | rejects                  | ended     |
 * | any       | `discard`, after the answer             | takes the rest as above  | receiving |
 *
 * Nothing but the taker ends `taking`: it never works on a part of a drain that is over.
 */
export class IncomingBody implements Body, Transfer, Receiver {
  readonly length: number;
  readonly #wire: Wire;
  readonly #pace: Pace;
  readonly #waitsForContinue: boolean;
  #work: WaitingWork | null;
  #state: BodyState = "unread";
  #moved = 0;
  #waiting = false;
  #taker: Take = () => {};
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #fault: Fault | null = null;
  /** Bytes behind the body: the next request begins with them. */
  #surplus = NO_BYTES;

  /**
   * `waitsForContinue`: the client sends nothing before it is asked to. The time in which we wait
   * for the client does not count as `work`.
   */
  constructor(
    wire: Wire,
    length: number,
    waitsForContinue: boolean,
    pace: Pace,
    work: WaitingWork,
  ) {
    this.length = length;
    this.#wire = wire;
    this.#waitsForContinue = waitsForContinue;
    this.#pace = pace;
    this.#work = work;
  }

  get isHeldBack(): boolean {
    return this.#waitsForContinue && this.#state === "unread";
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

  /** Cuts the connection: no more bytes come, and no answer is sent. */
  cutConnection(): void {
    this.#wire.socket.destroy();
  }

  takeWhole(room = 0): Bytes | null {
    if (this.#state !== "unread" || this.length === 0) return null;
    const bytes = this.#wire.takeNow(this.length, room);
    if (bytes === null) return null;
    this.#state = "ended";
    this.#moved = this.length;
    return bytes;
  }

  async drain(take: Take): Promise<void> {
    if (this.#state !== "unread") throw new Error("a body can be taken only once");
    const whole = this.takeWhole();
    if (whole !== null) {
      await take(whole);
      return;
    }
    this.#state = "ended";
    if (this.length === 0) return;
    if (this.#waitsForContinue) this.#wire.sendContinue();
    // The caller gets its promise before the first part arrives.
    await undefined;
    await this.#receive(take);
  }

  /**
   * Drops the rest if it is in memory. Returns how many bytes are still to come from the client.
   */
  skip(): number {
    const rest = this.length - this.#moved;
    if (rest === 0) return 0;
    if (this.#wire.takeNow(rest) === null) return rest;
    this.#moved = this.length;
    return 0;
  }

  /** Reads the rest and drops it. Resolves with true if the end came within the limits. */
  async discard(limits: ListenerLimits): Promise<boolean> {
    const bytesMax = this.#moved + limits.discardBytesMax;
    // Called when the request has its answer.
    this.#work = null;
    const idle = setTimeout(() => this.cut(), limits.discardIdleMs);
    try {
      await this.#receive(() => {
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

  take(chunk: Bytes): Promise<unknown> | null {
    const rest = this.length - this.#moved;
    const part = chunk.length > rest ? chunk.subarray(0, rest) : chunk;
    this.#surplus = chunk.subarray(part.length);
    this.#moved += part.length;
    this.#state = "taking";
    try {
      const wait = this.#taker(part);
      if (wait === undefined) {
        this.#goOn();
        return null;
      }
      this.#wait(false);
      this.#wire.pause();
      return wait.then(
        () => {
          this.#wire.resume();
          this.#goOn();
        },
        (error) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  end(): void {
    if (this.#moved < this.length) this.#stop(new Fault("IncompleteBody"));
  }

  #receive(take: Take): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#taker = take;
      this.#resolve = resolve;
      this.#reject = reject;
      this.#fault = null;
      this.#state = "receiving";
      this.#wait(true);
      this.#pace.watch(this);
      this.#wire.receive(this);
    });
  }

  /** Called when the taker is done with a part. */
  #goOn(): void {
    this.#wait(true);
    if (this.#fault !== null) {
      this.#fail(this.#fault);
      return;
    }
    if (this.#moved < this.length) {
      this.#state = "receiving";
      return;
    }
    this.#endReceiving();
    this.#resolve();
  }

  #stop(fault: Fault): void {
    if (this.#state === "taking") this.#fault ??= fault;
    else if (this.#state === "receiving") this.#fail(fault);
  }

  #fail(error: unknown): void {
    this.#endReceiving();
    this.#reject(error);
  }

  #endReceiving(): void {
    this.#state = "ended";
    this.#wait(false);
    this.#pace.forget(this);
    this.#wire.stopReceiving(this.#surplus);
    this.#surplus = NO_BYTES;
  }

  #wait(isWaiting: boolean): void {
    if (this.#waiting === isWaiting) return;
    this.#waiting = isWaiting;
    if (isWaiting) this.#work?.end();
    else this.#work?.begin();
  }
}
