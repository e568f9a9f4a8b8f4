import { once } from "node:events";
import { copyAndRelease } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import {
  type ClientLine,
  connectTo,
  Inbox,
  lengthPrefix,
  SocketLine,
} from "./client/client-line.ts";
import { SmbClient as PlainClient, type Sending } from "./client/smb-client.ts";
import { alignedTo } from "./codec/wire.ts";
import { Connection } from "./connection.ts";
import { receiveFrame } from "./receive.ts";
import type { SmbServer } from "./smb-server.ts";

/** Calls the server's code directly, without a socket. Passes its errors to `onError`. */
export class DirectLine implements ClientLine {
  readonly connection: Connection;
  readonly #inbox = new Inbox();
  readonly #onError: (error: unknown) => void;
  readonly #running = new Set<Promise<void>>();
  #closed: Promise<void> | null = null;

  constructor(server: SmbServer, onError: (error: unknown) => void, remoteAddress = "127.0.0.1") {
    this.#onError = onError;
    this.connection = new Connection(server, {
      remoteAddress,
      send: (frame) => this.#inbox.put(copyAndRelease(frame)),
      shareFor: async (bytes) => ({ bytes, release() {} }),
      drop: () => this.#inbox.close(),
    });
  }

  send(frame: Bytes): void {
    const running = receiveFrame(this.connection, frame)
      .catch((error) => {
        this.#onError(error);
        this.close();
      })
      .then(() => void this.#running.delete(running));
    this.#running.add(running);
  }

  next(): Promise<Bytes | null> {
    return this.#inbox.next();
  }

  close(): void {
    this.#inbox.close();
    this.#closed ??= this.connection.close();
  }

  /** Closes it, and resolves when the server has released everything. */
  async end(): Promise<void> {
    this.close();
    await this.#closed;
    await Promise.all(this.#running);
  }
}

/** A connection over TCP that can be misused. */
export class TcpLine extends SocketLine {
  static async open(port: number): Promise<TcpLine> {
    return new TcpLine(await connectTo("127.0.0.1", port));
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  /** Sends the first bytes of a frame, and disconnects when the server has got them. */
  async sendCut(frame: Bytes, bytes: number): Promise<void> {
    this.socket.end(Buffer.concat([lengthPrefix(frame), frame.subarray(0, bytes)]));
    await once(this.socket, "close");
  }
}

/** A client that sends exactly what a test wants. */
export class SmbClient extends PlainClient {
  /** The frame of several requests. */
  compound(parts: readonly [command: number, body: Bytes, sending?: Sending][]): Bytes {
    const messages = parts.map(([command, body, sending = {}], index) => {
      const message = this.message(command, body, sending);
      const isLast = index === parts.length - 1;
      const padded = Buffer.alloc(isLast ? message.length : alignedTo(message.length, 8));
      message.copy(padded);
      if (!isLast) padded.writeUInt32LE(padded.length, 20);
      if (sending.signed) this.signer?.sign(padded, { server: false, cancel: false });
      return padded;
    });
    return Buffer.concat(messages);
  }
}

export const EMPTY_BODY: Bytes = Buffer.from([4, 0, 0, 0]);
