import { Socket, type SocketConstructorOpts } from "node:net";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { Slabs } from "../../base/slabs.ts";

/** What is read at once: several times what Node reads, and little enough for a processor's cache. */
const READ_BYTES = 256 * KIB;
const IDLE_MAX = 8;

const slabs = new Slabs(READ_BYTES, IDLE_MAX);
/** What all sockets read into, as long as nobody holds on to anything of it. */
const shared = slabs.take();

export interface Receiver {
  /** Null if nobody holds on to anything of the chunk; otherwise it is free when the promise resolves. */
  take(chunk: Bytes): Promise<unknown> | null;
  /** Whether parts of what comes next may be held on to. */
  mayHold(): boolean;
}

/** What Node calls the connection itself. Its constructor takes one, but does not say so. */
interface WithHandle {
  _handle: unknown;
}

/**
 * The same connection as a socket that reads into memory of ours. Node reads into new memory each time,
 * 64 KiB at most, unless a socket is told otherwise when it is made; and those that it accepts are made
 * already. It has to be resumed to begin. `accepted` is closed with it, so that its server keeps count.
 */
export function ownSocket(accepted: Socket, receiver: Receiver): Socket {
  const { _handle: handle } = accepted as unknown as WithHandle;
  (accepted as unknown as WithHandle)._handle = null;
  let own: Bytes | null = null;
  const onread = {
    buffer() {
      if (receiver.mayHold()) own ??= slabs.take();
      else giveBackOwn();
      return own ?? shared;
    },
    callback(bytes: number, memory: Uint8Array) {
      const held = receiver.take((memory as Bytes).subarray(0, bytes));
      if (held === null || own === null) return true;
      const slab = own;
      own = null;
      held.then(() => slabs.giveBack(slab));
      return true;
    },
  };
  const giveBackOwn = () => {
    if (own !== null) slabs.giveBack(own);
    own = null;
  };
  const options = { handle, onread, manualStart: true };
  const socket = new Socket(options as SocketConstructorOpts);
  socket.once("close", () => {
    giveBackOwn();
    accepted.destroy();
  });
  return socket;
}
