import { Socket, type SocketConstructorOpts } from "node:net";
import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../machine/aligned-bytes.ts";
import { Slabs } from "../machine/slabs.ts";

const IDLE_BYTES_MAX = 2 * MIB;

/** Who reads from a socket. */
export interface Reader {
  /**
   * Null if nobody holds on to anything of the chunk; otherwise it is free when the promise resolves,
   * and so is all of `memory`, which begins with the chunk. What comes without memory must not be held
   * on to: it is overwritten by the next chunk, anywhere.
   */
  take(chunk: Bytes, memory: Bytes | null): Promise<unknown> | null;
  /** Whether what comes next may be held on to in any case. */
  mayHold(): boolean;
  /** How many bytes are likely to come before one that is best read to the beginning of a page. */
  readonly bytesBeforePage?: number;
}

export interface ReadSizes {
  /** How much is read at once, at most, into the memory of all. */
  readonly shared: number;
  /** And into that of one socket. */
  readonly own: number;
  /**
   * So many sockets have aligned memory of their own all the time: what comes there need not be
   * copied. Pages of it that nothing was read into take no room.
   */
  readonly owners: number;
}

/** What Node calls the connection itself. Its constructor takes one, but does not say so. */
interface WithHandle {
  _handle: unknown;
}

/** Memory that the sockets of a front end read into. */
export class ReadMemory {
  /** For all of them, as long as nobody holds on to anything of it. */
  readonly shared: Bytes;
  readonly #owners: number;
  /** Those of the owners, and of others while they need one. */
  readonly #aligned: Slabs;
  readonly #passing: Slabs;

  constructor({ shared, own, owners }: ReadSizes) {
    this.shared = Buffer.allocUnsafeSlow(shared);
    this.#owners = owners;
    this.#aligned = new Slabs(own, Number.POSITIVE_INFINITY, alignedBytes);
    this.#passing = new Slabs(own, Math.floor(IDLE_BYTES_MAX / own));
  }

  /**
   * The same connection as a socket that reads into this memory. Node reads into new memory each time,
   * unless a socket is told otherwise when it is made; and those that it accepts are made already.
   * Encrypted ones stay as they are. It has to be resumed to begin.
   */
  socketOf(accepted: Socket, reader: Reader): Socket {
    const { _handle: handle = null } = accepted as unknown as WithHandle;
    if (handle === null || "encrypted" in accepted) {
      return accepted.on("data", (chunk: Bytes) => reader.take(chunk, chunk));
    }
    (accepted as unknown as WithHandle)._handle = null;
    const place = new Place(this, reader);
    const onread = {
      buffer: () => place.next(),
      callback: (bytes: number, memory: Uint8Array) => place.fill(bytes, memory as Bytes),
    };
    const { allowHalfOpen } = accepted;
    const options = { handle, onread, manualStart: true, allowHalfOpen };
    const socket = new Socket(options as SocketConstructorOpts);
    socket.once("close", () => {
      place.release();
      // Its server keeps count.
      accepted.destroy();
    });
    return socket;
  }

  /** Null where a socket has to do with what is shared. */
  takeOwn(isNeeded: boolean): OwnMemory | null {
    if (this.#aligned.taken < this.#owners) return new OwnMemory(this.#aligned, true);
    return isNeeded ? new OwnMemory(this.#passing, false) : null;
  }
}

class OwnMemory {
  readonly slab: Bytes;
  /** Whether it stays with a socket that does not need it at the moment. */
  readonly stays: boolean;
  readonly #slabs: Slabs;

  constructor(slabs: Slabs, stays: boolean) {
    this.slab = slabs.take();
    this.stays = stays;
    this.#slabs = slabs;
  }

  release(): void {
    this.#slabs.release(this.slab);
  }
}

/** Where one socket reads to. */
class Place {
  readonly #memory: ReadMemory;
  readonly #reader: Reader;
  #own: OwnMemory | null = null;

  constructor(memory: ReadMemory, reader: Reader) {
    this.#memory = memory;
    this.#reader = reader;
  }

  next(): Bytes {
    const isNeeded = this.#reader.mayHold();
    if (this.#own?.stays === false && !isNeeded) this.release();
    this.#own ??= this.#memory.takeOwn(isNeeded);
    if (this.#own === null) return this.#memory.shared;
    const before = (this.#reader.bytesBeforePage ?? 0) % PAGE_BYTES;
    return before === 0 ? this.#own.slab : this.#own.slab.subarray(PAGE_BYTES - before);
  }

  fill(bytes: number, memory: Bytes): boolean {
    const chunk = memory.subarray(0, bytes);
    const own = this.#own;
    if (own === null) {
      // What may be held on to only since it is on its way has to leave the memory of all.
      const copy = this.#reader.mayHold() ? Buffer.from(chunk) : null;
      this.#reader.take(copy ?? chunk, copy);
      return true;
    }
    const held = this.#reader.take(chunk, memory);
    if (held !== null) {
      this.#own = null;
      held.then(() => own.release());
    }
    return true;
  }

  release(): void {
    this.#own?.release();
    this.#own = null;
  }
}
