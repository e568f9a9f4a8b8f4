import type { Socket } from "node:net";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import type { Counted } from "../../connection-table.ts";
import type { Reader, ReadMemory } from "../../read-memory.ts";
import { remoteAddressOf } from "./accepted-sockets.ts";
import { type AnswerHead, renderHead } from "./answer-head.ts";
import type { ListenerLimits } from "./limits.ts";
import { ReceivedBytes } from "./received-bytes.ts";
import { mayBeHead, parseHead, type RequestHead } from "./request-head.ts";
import type { Receiver, Wire } from "./wire.ts";

/** What a connection needs of its listener. */
export interface ConnectionOwner {
  readonly limits: ListenerLimits;
  readonly readMemory: ReadMemory;
  /** Whether connections are closed as soon as they are idle. */
  readonly closing: boolean;
  /** Begins an exchange, which calls `over` in the end. */
  serve(connection: Connection, head: RequestHead): void;
  /** Called when an exchange is over and no other has begun. */
  rested(connection: Connection): void;
  /** Reports the refusal of bytes that are not a request. Returns the head of the answer. */
  noteRefusal(connection: Connection, status: number): AnswerHead;
}

type ConnectionState = "silent" | "idle" | "head" | "exchange" | "closed";

/** Longer than any method. */
const METHOD_CHARS_MAX = 31;
const HEAD_END = "\r\n\r\n";
/** Up to this size a body is copied behind its head: that costs less than a second write. */
const JOINED_BYTES_MAX = 16 * KIB;

/**
 * A client's connection: owns the socket, finds the heads of requests, and runs one exchange after
 * the other. A request that comes before the last one has its answer waits until it has.
 *
 * | state    | event                                   | does                | next     |
 * |----------|-----------------------------------------|---------------------|----------|
 * | silent   | the first bytes that are no blank lines |                     | head     |
 * | silent   | `headersMs` pass                        | sends 408           | closed   |
 * | idle     | bytes that are no blank lines           |                     | head     |
 * | idle     | `keepAliveMs` pass                      |                     | closed   |
 * | head     | the head is complete                    | begins an exchange  | exchange |
 * | head     | it is no head, or too long              | sends 400, 417, 431 | closed   |
 * | head     | `headersMs` pass                        | sends 408           | closed   |
 * | exchange | bytes: the body is being received       | passes them on      | exchange |
 * | exchange | other bytes                             | keeps them          | exchange |
 * | exchange | over: the last, or the client has ended |                     | closed   |
 * | exchange | over: the next head has begun           |                     | head     |
 * | exchange | over: the listener is closing           |                     | closed   |
 * | exchange | over                                    |                     | idle     |
 * | exchange | the client ends, or the socket closes   | ends the body       | exchange |
 * | others   | the client ends                         |                     | closed   |
 */
export class Connection implements Counted, Reader, Wire {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly isSurplus: boolean;
  readonly #owner: ConnectionOwner;
  #state: ConnectionState = "silent";
  readonly #received = new ReceivedBytes();
  /** How many of these bytes were searched for the end of a head, in vain. */
  #searched = 0;
  /** The length of the last head: a client's heads are mostly of one length. */
  #headBytes = 0;
  #receiver: Receiver | null = null;
  /** Bytes of the body that are still to come. */
  #bodyBytesAhead = 0;
  /** Whether the client has ended its side. It may still read. */
  #isEnded = false;
  /** How long it has been waiting for a request. */
  #waitedMs = 0;

  constructor(accepted: Socket, owner: ConnectionOwner, isSurplus = false) {
    const socket = owner.readMemory.socketOf(accepted, this);
    this.socket = socket;
    this.remoteAddress = remoteAddressOf(socket);
    this.isSurplus = isSurplus;
    this.#owner = owner;
    socket
      .on("end", () => this.#end())
      .on("close", () => this.#close())
      // Ignored: clients disconnect at any time, and `close` follows.
      .on("error", () => {})
      .resume();
  }

  get idleRank(): number | null {
    return this.#state === "exchange" ? null : 0;
  }

  close(): void {
    this.socket.destroy();
  }

  /** Adds to the waiting time. Closes the connection if it has waited too long for a request. */
  wait(ms: number): void {
    if (this.#state === "exchange" || this.#state === "closed") return;
    const { headersMs, keepAliveMs } = this.#owner.limits;
    this.#waitedMs += ms;
    if (this.#state !== "idle") {
      if (this.#waitedMs > headersMs) this.#refuse(408);
    } else if (keepAliveMs !== 0 && this.#waitedMs > keepAliveMs) {
      this.#endSoon();
    }
  }

  // Reading, as `ReadMemory` asks.

  take(chunk: Bytes, memory: Bytes | null): Promise<unknown> | null {
    this.#bodyBytesAhead = Math.max(0, this.#bodyBytesAhead - chunk.length);
    if (this.#receiver !== null) return this.#receiver.take(chunk);
    if (this.#isEnded) return null;
    if (this.#state === "exchange") {
      this.#received.add(chunk);
      if (this.#received.length >= this.#owner.limits.bufferedBytesMax) this.socket.pause();
      return null;
    }
    const mayBorrow = memory !== null && this.#received.length === 0;
    if (mayBorrow) this.#received.borrow(chunk, memory);
    else this.#received.add(chunk);
    this.#readHead();
    if (!this.#isInExchange) this.#received.endBorrowing();
    return mayBorrow ? this.#received.untilReleased() : null;
  }

  /** Reads a body into aligned memory, from which it can be written to disk. */
  get bytesBeforePage(): number {
    return this.#bodyBytesAhead > 0 ? 0 : this.#headBytes;
  }

  /** The taker of a body may borrow its remaining parts. */
  mayBorrow(): boolean {
    return this.#bodyBytesAhead > 0;
  }

  // The request's body, as its exchange asks.

  takeNow(bytes: number, room = 0): Bytes | null {
    const here = this.#received.length;
    if (room > 0) return here === bytes ? this.#received.takeWithRoom(room) : null;
    return here < bytes ? null : this.#received.take(bytes);
  }

  receive(receiver: Receiver): void {
    this.#receiver = receiver;
    this.socket.resume();
    const here = this.#received.take(this.#received.length);
    if (here.length > 0) receiver.take(here);
    if (this.#isEnded) receiver.end();
  }

  stopReceiving(surplus: Bytes): void {
    this.#receiver = null;
    this.#received.reset(surplus);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  // The answer.

  sendContinue(): void {
    this.socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  sendHead(head: AnswerHead): void {
    this.socket.write(renderHead(head), "latin1");
  }

  sendParts(parts: readonly Bytes[], done: () => void): void {
    this.socket.cork();
    const last = parts.length - 1;
    for (let index = 0; index < last; index++) this.socket.write(parts[index] as Bytes);
    this.socket.write(parts[last] as Bytes, done);
    this.socket.uncork();
  }

  sendWhole(head: AnswerHead, body: Bytes | null, sending: { sent(): void }): void {
    const { socket } = this;
    const text = renderHead(head);
    if (body === null) {
      socket.write(text, "latin1");
    } else if (body.length <= JOINED_BYTES_MAX) {
      socket.write(joined(text, body));
    } else {
      socket.cork();
      socket.write(text, "latin1");
      socket.write(body);
      socket.uncork();
    }
    // Usually the system has already taken all of it.
    if (socket.writableLength === 0) sending.sent();
    else socket.write(NO_BYTES, () => sending.sent());
  }

  over(isLast = false): void {
    this.#received.endBorrowing();
    this.#waitedMs = 0;
    if (isLast || this.socket.destroyed) {
      this.#endSoon();
      return;
    }
    this.#state = "idle";
    if (this.#received.length > 0) this.#readHead();
    // The compiler does not see that the call above changes the state.
    if (this.#isInExchange) return;
    if (this.#isEnded || this.#owner.closing) this.#endSoon();
    else if (this.socket.isPaused()) this.socket.resume();
    this.#owner.rested(this);
  }

  get #isInExchange(): boolean {
    return this.#state === "exchange";
  }

  /** Begins an exchange if a whole head has arrived. */
  #readHead(): void {
    this.#received.skipBlankLines();
    if (this.#received.length === 0) return;
    // Blank lines between requests do not reset the waiting time.
    if (this.#state !== "head") this.#waitedMs = 0;
    this.#state = "head";
    const { headerBytesMax } = this.#owner.limits;
    const end = this.#received.indexOf(HEAD_END, this.#searched);
    if (end > headerBytesMax || (end < 0 && this.#received.length > headerBytesMax)) {
      this.#refuse(431);
    } else if (end >= 0) {
      this.#beginExchange(end);
    } else if (mayBeHead(this.#received.text(METHOD_CHARS_MAX + 1))) {
      this.#searched = Math.max(0, this.#received.length - HEAD_END.length + 1);
    } else {
      this.#refuse(400);
    }
  }

  #beginExchange(headEnd: number): void {
    const head = parseHead(this.#received.text(headEnd + 2));
    this.#headBytes = headEnd + HEAD_END.length;
    this.#received.take(this.#headBytes);
    this.#searched = 0;
    if (typeof head === "number") {
      this.#refuse(head);
      return;
    }
    this.#bodyBytesAhead = Math.max(0, head.bodyBytes - this.#received.length);
    // The text of the head is a copy: without a body nothing in the memory is needed any more.
    if (this.#received.length === 0) this.#received.endBorrowing();
    this.#state = "exchange";
    this.#owner.serve(this, head);
  }

  /** Answers a request that no service can handle, and closes the connection. */
  #refuse(status: number): void {
    this.#received.reset(NO_BYTES);
    this.#isEnded = true;
    this.socket.write(renderHead(this.#owner.noteRefusal(this, status)), "latin1");
    this.#endSoon();
  }

  /** Closes the connection once the system has taken everything that was written. */
  #endSoon(): void {
    this.#state = "closed";
    this.socket.destroySoon();
  }

  #end(): void {
    this.#isEnded = true;
    this.#receiver?.end();
    if (this.#state !== "exchange") this.#endSoon();
  }

  #close(): void {
    this.#isEnded = true;
    this.#receiver?.end();
  }
}

function joined(head: string, body: Bytes): Bytes {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  bytes.set(body, head.length);
  return bytes;
}
