import type { Socket } from "node:net";
import { type BorrowedBuffer, lengthOf } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { KIB } from "../../base/limits.ts";

/** The system copies what it is given to send: about 0.1 ms for this much. */
const SLICE_BYTES = 512 * KIB;

/**
 * What one socket has to send, in order. A socket that is given megabytes passes on as many as fit each
 * time that there is room, and with many such sockets nobody else has a turn. So it is given slices.
 */
export class SendQueue {
  readonly #socket: Socket;
  readonly #onSent: () => void;
  readonly #frames: BorrowedBuffer[] = [];
  #isBusy = false;
  #bytes = 0;

  /** `onSent` hears when there is less to send than before. */
  constructor(socket: Socket, onSent: () => void) {
    this.#socket = socket;
    this.#onSent = onSent;
  }

  /** What the socket was not given yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The frame is given back when the system has taken all of it, or the socket is gone. */
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

  /** `done` is called, too, when the socket is gone. */
  #write(parts: readonly Bytes[], done: () => void): void {
    const last = parts.length - 1;
    this.#socket.cork();
    for (let index = 0; index < last; index++) this.#socket.write(parts[index] as Bytes);
    this.#socket.write(parts[last] as Bytes, done);
    this.#socket.uncork();
  }
}

/** Neighbouring parts of at most so many bytes together; longer ones are cut. */
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
