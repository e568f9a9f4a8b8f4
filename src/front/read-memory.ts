import { Socket, type SocketConstructorOpts } from "node:net";
import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { PAGE_BYTES } from "../machine/aligned-bytes.ts";
import { ALIGNED, Slabs } from "../machine/slabs.ts";

const IDLE_BYTES_MAX = 2 * MIB;

/** Takes what is read from a socket. */
export interface Reader {
  /**
   * Returns null if the chunk is not needed any more. Otherwise the reader borrows it, and all of
   * `memory`, which begins with the chunk, until the promise resolves. A chunk without `memory`
   * must not be borrowed: the next read of any socket overwrites it.
   */
  take(chunk: Bytes, memory: Bytes | null): Promise<unknown> | null;
  /** Whether the reader may borrow the next chunk, whatever it is. */
  mayBorrow(): boolean;
  /** How many bytes are expected before the one that is best placed at the start of a page. */
  readonly bytesBeforePage?: number;
}

export interface ReadSizes {
  /** Most bytes of one read into the shared memory. */
  readonly shared: number;
  /** Most bytes of one read into memory of the socket's own. */
  readonly own: number;
  /**
   * Sockets that keep aligned memory of their own, so that nothing has to be copied. Pages that
   * were never read into take no room.
   */
  readonly owners: number;
}

/** Node's private handle of a connection. `new Socket` accepts one, but does not document it. */
interface WithHandle {
  _handle: unknown;
}

/**
 * Memory that the sockets of a front end read into.
 *
 * A socket reads into the shared memory as long as its reader borrows nothing; what must be kept is
 * copied. The first `owners` sockets keep a slab of aligned memory; others get one only while their
 * reader may borrow chunks. A borrowed slab stays with the reader until its promise resolves;
 * meanwhile the socket reads into another one.
 */
export class ReadMemory {
  /** Each read overwrites the one before. */
  readonly shared: Bytes;
  readonly #owners: number;
  /** Slabs of owners. */
  readonly #aligned: Slabs;
  /** Slabs of other sockets, for a while. */
  readonly #temporary: Slabs;

  constructor({ shared, own, owners }: ReadSizes) {
    this.shared = Buffer.allocUnsafeSlow(shared);
    this.#owners = owners;
    this.#aligned = new Slabs(own, Number.POSITIVE_INFINITY, ALIGNED);
    this.#temporary = new Slabs(own, Math.floor(IDLE_BYTES_MAX / own));
  }

  /**
   * Returns a socket for the accepted connection that reads into this memory; the caller resumes
   * it. Node allocates new memory for each read unless a socket is constructed with `onread`, and a
   * server constructs its sockets without. So this moves the connection to a new socket, through a
   * private field of Node's. Encrypted sockets stay as they are.
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
      // The server counts the accepted socket.
      accepted.destroy();
    });
    return socket;
  }

  /** Frees what no socket uses; the rest is freed when its socket is closed. */
  close(): void {
    this.#aligned.close();
    this.#temporary.close();
  }

  /** Bytes of slabs that sockets and readers have now. */
  get bytesTaken(): number {
    const slabs = [this.#aligned, this.#temporary];
    return slabs.reduce((sum, { taken, bytes }) => sum + taken * bytes, 0);
  }

  /** Null if the socket uses the shared memory. */
  takeOwn(isNeeded: boolean): OwnMemory | null {
    if (this.#aligned.taken < this.#owners) return new OwnMemory(this.#aligned, true);
    return isNeeded ? new OwnMemory(this.#temporary, false) : null;
  }
}

class OwnMemory {
  readonly slab: Bytes;
  /** Whether it stays with its socket while that does not need it. */
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

/** The memory that one socket reads into. */
class Place {
  readonly #memory: ReadMemory;
  readonly #reader: Reader;
  #own: OwnMemory | null = null;

  constructor(memory: ReadMemory, reader: Reader) {
    this.#memory = memory;
    this.#reader = reader;
  }

  next(): Bytes {
    const isNeeded = this.#reader.mayBorrow();
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
      // The reader may borrow only since this read began: the chunk leaves the shared memory.
      const copy = this.#reader.mayBorrow() ? Buffer.from(chunk) : null;
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
