import type { Socket } from "node:net";
import { type BorrowedBuffer, lengthOf } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { KIB } from "../../base/limits.ts";

/** The system copies this much in about 0.1 ms. */
const SLICE_BYTES = 512 * KIB;

/**
 * Sends frames on one socket in order, in slices. A socket that is given megabytes at once copies
 * as much as fits each time it has room, and many such sockets would block the event loop.
 */
export class SendQueue {
  readonly #socket: Socket;
  readonly #onSent: () => void;
  readonly #frames: BorrowedBuffer[] = [];
  #isBusy = false;
  #bytes = 0;

  /** Calls `onSent` whenever there is less left to send. */
  constructor(socket: Socket, onSent: () => void) {
    this.#socket = socket;
    this.#onSent = onSent;
  }

  /** Bytes that the socket was not given yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Releases the frame once the system has taken all of it, or the socket is closed. */
  send(frame: BorrowedBuffer): void {
    const length = lengthOf(frame.parts);
    if (!this.#isBusy && length <= SLICE_BYTES) {
      this.#write(frame.parts, () => frame.release());
      return;
    }
    this.#frames.push(frame);
    this.#bytes += length;
    if (!this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
      for (const slice of slicesOf(frame.parts)) {
        if (!this.#socket.destroyed) {
          await fairQueue.next();
          await new Promise<void>((resolve) => this.#write(slice, resolve));
        }
        this.#bytes -= lengthOf(slice);
        this.#onSent();
      }
      frame.release();
    }
    this.#isBusy = false;
  }

  /** Calls `done` also if the socket is closed. */
  #write(parts: readonly Bytes[], done: () => void): void {
    const last = parts.length - 1;
    this.#socket.cork();
    for (let index = 0; index < last; index++) this.#socket.write(parts[index] as Bytes);
    this.#socket.write(parts[last] as Bytes, done);
    this.#socket.uncork();
  }
}

/** Groups neighbouring parts into slices, and splits long parts. */
function* slicesOf(parts: readonly Bytes[]): Generator<readonly Bytes[]> {
  let slice: Bytes[] = [];
  let left = SLICE_BYTES;
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const bytes = part.subarray(at, at + left);
      slice.push(bytes);
      at += bytes.length;
      left -= bytes.length;
      if (left > 0) continue;
      yield slice;
      slice = [];
      left = SLICE_BYTES;
    }
  }
  if (slice.length > 0) yield slice;
}
