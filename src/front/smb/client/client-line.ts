import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Bytes } from "../../../base/bytes.ts";
import { FrameReader } from "../frame-reader.ts";

/** A connection to a server. */
export interface ClientLine {
  send(frame: Bytes): void;
  /** The next frame; null once the server has closed the connection. */
  next(): Promise<Bytes | null>;
  close(): void;
}

/** Received frames, and the calls that wait for the next one. */
export class Inbox {
  readonly #frames: Bytes[] = [];
  readonly #waiting: ((frame: Bytes | null) => void)[] = [];
  #isClosed = false;

  put(frame: Bytes): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#frames.push(frame);
    else waiting(frame);
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) waiting(null);
  }

  next(): Promise<Bytes | null> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    if (this.#isClosed) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A connection over TCP. */
export class SocketLine implements ClientLine {
  protected readonly socket: Socket;
  readonly #inbox = new Inbox();

  constructor(socket: Socket) {
    const reader = new FrameReader(() => true);
    this.socket = socket;
    socket.on("data", (chunk) => {
      for (const frame of reader.take(chunk)) this.#inbox.put(frame);
    });
    // Ignored: "close" follows every error.
    socket.on("error", () => {});
    socket.on("close", () => this.#inbox.close());
  }

  send(frame: Bytes): void {
    this.socket.write(Buffer.concat([lengthPrefix(frame), frame]));
  }

  next(): Promise<Bytes | null> {
    return this.#inbox.next();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Connects. Rejects with the system's error. */
export async function connectTo(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host);
  await once(socket, "connect");
  return socket;
}

/** What precedes a frame: its length. */
export function lengthPrefix(frame: Bytes): Bytes {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(frame.length);
  return prefix;
}
