import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Response {
  readonly status: number;
  /** The length of the body on the wire. */
  readonly bodyBytes: number;
  /** Empty unless requested, or unless the request was refused. */
  readonly text: string;
}

const HEAD_END = Buffer.from("\r\n\r\n");
/** The end of a chunked body. No chunked listing contains it. */
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

const NO_BYTES: Buffer = Buffer.alloc(0);
const READ_BYTES = 256 * 1024;

interface Pending {
  readonly isHead: boolean;
  readonly cacheText: boolean;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection with one request at a time. It parses just enough HTTP to find the end of a
 * response: it shares the machine with the server it measures, so it must cost far less.
 */
export class Connection {
  readonly #socket: Socket;
  #pending: Pending | null = null;
  #head: Buffer | null = null;
  #status = 0;
  /** Remaining bytes of the body; null for a chunked body. */
  #bytesLeft: number | null = 0;
  #bodyBytes = 0;
  #tail = NO_BYTES;
  #textParts: Buffer[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The server closed the connection.")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let connection: Connection | null = null;
      // Reads all responses into the same memory: allocating for each part would double the cost.
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      const callback = (bytes: number) => {
        if (connection !== null) connection.#take(buffer.subarray(0, bytes));
        return true;
      };
      const options = { port, host: "127.0.0.1", onread: { buffer, callback } };
      const socket = connect(options, () => {
        socket.off("error", reject);
        connection = new Connection(socket);
        resolve(connection);
      });
      socket.once("error", reject);
    });
  }

  exchange(request: Buffer, cacheText = false): Promise<Response> {
    return new Promise((resolve, reject) => {
      const isHead = request[0] === 0x48; // "H"
      this.#pending = { isHead, cacheText, resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Sends a head, then the same bytes repeatedly, no faster than the socket accepts them. */
  async send(head: Buffer, bytes: Buffer, times: number): Promise<Response> {
    const answer = this.exchange(head);
    answer.catch(() => {});
    for (let sent = 0; sent < times; sent++) {
      if (!this.#socket.write(bytes)) await once(this.#socket, "drain");
    }
    return answer;
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#status !== 0) {
      this.#takeBody(bytes);
      return;
    }
    const head = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = Buffer.from(head);
      return;
    }
    this.#head = null;
    this.#readHead(head.toString("latin1", 0, end + 2));
    this.#takeBody(head.subarray(end + HEAD_END.length));
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head);
    const hasNone = this.#pending?.isHead === true || this.#status === 204 || this.#status === 304;
    this.#bytesLeft = isChunked && !hasNone ? null : hasNone ? 0 : Number(length ?? 0);
  }

  #takeBody(bytes: Buffer): void {
    this.#bodyBytes += bytes.length;
    if (this.#pending?.cacheText === true || this.#status >= 300)
      this.#textParts.push(Buffer.from(bytes));
    if (this.#bytesLeft === null) {
      this.#tail = Buffer.concat([this.#tail, bytes.subarray(-LAST_CHUNK.length)]).subarray(
        -LAST_CHUNK.length,
      );
      if (this.#tail.equals(LAST_CHUNK)) this.#finish();
    } else {
      this.#bytesLeft -= bytes.length;
      if (this.#bytesLeft === 0) this.#finish();
    }
  }

  #finish(): void {
    const response = {
      status: this.#status,
      bodyBytes: this.#bodyBytes,
      text: this.#textParts.length === 0 ? "" : Buffer.concat(this.#textParts).toString(),
    };
    const pending = this.#pending;
    this.#pending = null;
    this.#status = 0;
    this.#bodyBytes = 0;
    this.#tail = NO_BYTES;
    this.#textParts = [];
    pending?.resolve(response);
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = null;
  }
}
