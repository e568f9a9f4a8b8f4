import { Socket, type SocketConstructorOpts } from "node:net";
import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { Slabs } from "../base/slabs.ts";

const IDLE_BYTES_MAX = 2 * MIB;

/** Who reads from a socket. */
export interface Reader {
  /** Null if nobody holds on to anything of the chunk; otherwise it is free when the promise resolves. */
  take(chunk: Bytes): Promise<unknown> | null;
  /** Whether parts of what comes next may be held on to. */
  mayHold(): boolean;
}

/** What Node calls the connection itself. Its constructor takes one, but does not say so. */
interface WithHandle {
  _handle: unknown;
}

/** Memory that the sockets of a front end read into. */
export class ReadMemory {
  /** For all of them, as long as nobody holds on to anything of it. */
  readonly #shared: Bytes;
  readonly #slabs: Slabs;

  /** How much is read at once, at most, into the memory of all, and into that of one socket. */
  constructor(sharedBytes: number, ownBytes: number) {
    this.#shared = Buffer.allocUnsafeSlow(sharedBytes);
    this.#slabs = new Slabs(ownBytes, Math.floor(IDLE_BYTES_MAX / ownBytes));
  }

  /**
   * The same connection as a socket that reads into this memory. Node reads into new memory each time,
   * unless a socket is told otherwise when it is made; and those that it accepts are made already.
   * Encrypted ones stay as they are. It has to be resumed to begin.
   */
  socketOf(accepted: Socket, reader: Reader): Socket {
    const { _handle: handle = null } = accepted as unknown as WithHandle;
    if (handle === null || "encrypted" in accepted) {
      return accepted.on("data", (chunk: Bytes) => reader.take(chunk));
    }
    (accepted as unknown as WithHandle)._handle = null;
    const place = new Place(this.#shared, this.#slabs, reader);
    const onread = {
      buffer: () => place.next(),
      callback: (bytes: number, memory: Uint8Array) => place.fill(bytes, memory as Bytes),
    };
    const { allowHalfOpen } = accepted;
    const options = { handle, onread, manualStart: true, allowHalfOpen };
    const socket = new Socket(options as SocketConstructorOpts);
    socket.once("close", () => {
      place.giveBack();
      // Its server keeps count.
      accepted.destroy();
    });
    return socket;
  }
}

/** Where one socket reads to. */
class Place {
  readonly #shared: Bytes;
  readonly #slabs: Slabs;
  readonly #reader: Reader;
  #own: Bytes | null = null;

  constructor(shared: Bytes, slabs: Slabs, reader: Reader) {
    this.#shared = shared;
    this.#slabs = slabs;
    this.#reader = reader;
  }

  next(): Bytes {
    if (this.#reader.mayHold()) this.#own ??= this.#slabs.take();
    else this.giveBack();
    return this.#own ?? this.#shared;
  }

  fill(bytes: number, memory: Bytes): boolean {
    const chunk = memory.subarray(0, bytes);
    const slab = this.#own;
    if (slab === null) {
      // What may be held on to only since it is on its way has to leave the memory of all.
      this.#reader.take(this.#reader.mayHold() ? Buffer.from(chunk) : chunk);
      return true;
    }
    const held = this.#reader.take(chunk);
    if (held !== null) {
      this.#own = null;
      held.then(() => this.#slabs.giveBack(slab));
    }
    return true;
  }

  giveBack(): void {
    if (this.#own !== null) this.#slabs.giveBack(this.#own);
    this.#own = null;
  }
}
