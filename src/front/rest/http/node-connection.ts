import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Bytes } from "../../../base/bytes.ts";
import {
  type AcceptedSockets,
  type ListenerConnection,
  remoteAddressOf,
} from "./accepted-sockets.ts";
import { type AnswerHead, fieldsOf, renderHead } from "./answer-head.ts";
import type { Exchanges } from "./exchanges.ts";
import { beginExchange } from "./http-exchange.ts";
import { headOf } from "./request-head.ts";
import type { Receiver, Wire } from "./wire.ts";

/** The client has ended its side within a request. */
const UNEXPECTED_END = "HPE_INVALID_EOF_STATE";

/**
 * A connection of Node's HTTP server. Node hands over each request as soon as its head is parsed;
 * this runs their exchanges one after the other, and stops reading while one has to wait.
 */
export class NodeConnection implements ListenerConnection {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly isSurplus: boolean;
  readonly #exchanges: Exchanges;
  readonly #sockets: AcceptedSockets;
  #current: NodeWire | null = null;
  #queued: NodeWire[] = [];
  /** Why Node has stopped reading; null while it reads. */
  #failure: string | null = null;

  constructor(socket: Socket, exchanges: Exchanges, sockets: AcceptedSockets, isSurplus: boolean) {
    this.socket = socket;
    this.remoteAddress = remoteAddressOf(socket);
    this.isSurplus = isSurplus;
    this.#exchanges = exchanges;
    this.#sockets = sockets;
  }

  get idleRank(): number | null {
    return this.#current === null ? 0 : null;
  }

  close(): void {
    this.socket.destroy();
  }

  /** Node itself closes connections that wait for too long. */
  wait(): void {}

  serve(request: IncomingMessage, response: ServerResponse): void {
    const wire = new NodeWire(this, request, response);
    if (this.#current === null) {
      this.#begin(wire);
      return;
    }
    this.#queued.push(wire);
    // Node resumes the socket after each request that it has parsed: this has to come later.
    process.nextTick(() => {
      if (this.#queued.length > 0) this.socket.pause();
    });
  }

  /**
   * Called if Node cannot parse a request, or has waited too long for it. Earlier requests are
   * still answered.
   */
  fail(code: string): void {
    const isOfHttp = code.startsWith("HPE_") || code === "ERR_HTTP_REQUEST_TIMEOUT";
    if (!isOfHttp) this.socket.destroy();
    if (this.#failure !== null) return;
    this.#failure = code;
    if (this.#current === null) {
      this.#refuse(code);
      return;
    }
    this.socket.pause();
    (this.#queued.at(-1) ?? this.#current).end();
  }

  /** The current exchange is over, and Node has sent its answer. */
  next(isLast: boolean): void {
    this.#current = null;
    if (isLast || this.socket.destroyed) {
      this.socket.destroySoon();
      return;
    }
    const next = this.#queued.shift();
    if (next !== undefined) {
      if (this.#queued.length === 0 && this.#failure === null) this.socket.resume();
      this.#begin(next);
      return;
    }
    if (this.#failure !== null) this.#refuse(this.#failure);
    else if (this.#exchanges.closing) this.socket.destroySoon();
    this.#sockets.rested(this);
  }

  #begin(wire: NodeWire): void {
    const head = wire.head();
    if (typeof head === "number") {
      wire.refuse(this.#exchanges.noteRefusal(this, head));
    } else {
      this.#current = wire;
      beginExchange(this.#exchanges, wire, head);
    }
  }

  /** Answers a request that no service can handle, and closes the connection. */
  #refuse(code: string): void {
    if (code !== UNEXPECTED_END) {
      const head = this.#exchanges.noteRefusal(this, statusOf(code));
      this.socket.write(renderHead(head), "latin1");
    }
    this.socket.destroySoon();
  }
}

function statusOf(code: string): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}

/** A request and its answer, as objects of Node's HTTP server. */
class NodeWire implements Wire {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly isSurplus: boolean;
  readonly #connection: NodeConnection;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #take = (part: Bytes): void => {
    this.#receiver?.take(part);
  };
  #receiver: Receiver | null = null;
  #sending: { sent(): void } | null = null;
  #isEnded = false;
  /** Whether Node is done with the response, sent or not. */
  #isClosed = false;
  /** Set when the exchange is over. */
  #isLast: boolean | null = null;

  constructor(connection: NodeConnection, request: IncomingMessage, response: ServerResponse) {
    this.socket = connection.socket;
    this.remoteAddress = connection.remoteAddress;
    this.isSurplus = connection.isSurplus;
    this.#connection = connection;
    this.#request = request;
    this.#response = response;
    // Ignored: clients disconnect at any time, and `close` follows.
    request.on("error", () => {}).on("close", () => this.end());
    response.on("error", () => {}).on("close", () => this.#close());
    // The head already has a date.
    response.sendDate = false;
  }

  head() {
    const { method = "", url = "", httpVersionMinor, rawHeaders } = this.#request;
    return headOf({ method, target: url, isHttp11: httpVersionMinor === 1, rawHeaders });
  }

  refuse(head: AnswerHead): void {
    this.#isLast = true;
    this.sendHead(head);
    this.#response.end();
  }

  /** The rest of the request will not arrive. */
  end(): void {
    this.#isEnded = true;
    this.#receiver?.end();
  }

  takeNow(bytes: number, room = 0): Bytes | null {
    // Node's buffers have no room of ours behind them.
    if (room > 0) return null;
    return this.#request.readableLength < bytes ? null : this.#request.read(bytes);
  }

  receive(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#request.on("data", this.#take).resume();
    if (this.#isEnded) receiver.end();
  }

  stopReceiving(): void {
    this.#receiver = null;
    this.#request.pause().off("data", this.#take);
  }

  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }

  sendContinue(): void {
    this.#response.writeContinue();
  }

  sendHead(head: AnswerHead): void {
    this.#response.writeHead(head.status, fieldsOf(head));
    this.#response.flushHeaders();
  }

  sendParts(parts: readonly Bytes[], done: () => void): void {
    this.#response.cork();
    const last = parts.length - 1;
    for (let index = 0; index < last; index++) this.#response.write(parts[index] as Bytes);
    this.#response.write(parts[last] as Bytes, done);
    this.#response.uncork();
  }

  sendWhole(head: AnswerHead, body: Bytes | null, sending: { sent(): void }): void {
    this.#sending = sending;
    this.#response.writeHead(head.status, fieldsOf(head)).end(body);
    if (this.#isClosed) sending.sent();
  }

  over(isLast: boolean): void {
    this.#isLast = isLast;
    if (this.#isClosed) this.#connection.next(isLast);
    else this.#response.end();
  }

  #close(): void {
    this.#isClosed = true;
    if (this.#isLast !== null) this.#connection.next(this.#isLast);
    else this.#sending?.sent();
  }
}
