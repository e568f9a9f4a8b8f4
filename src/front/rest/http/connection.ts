import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import { pagesAt } from "../../../machine/aligned-bytes.ts";
import type { Counted } from "../../connection-table.ts";
import type { Pace, Transfer } from "../../pace.ts";
import { type Reader, ReadMemory } from "../../read-memory.ts";
import { bytesTakenFrom } from "../../socket-progress.ts";
import type { UnsentAnswers } from "../../unsent-answers.ts";
import type { ListenerLimits } from "./limits.ts";
import { mayBeHead, parseHead, type RequestHead } from "./request-head.ts";

/** What a connection needs of its listener. */
export interface ConnectionOwner {
  readonly limits: ListenerLimits;
  /** Whether connections are closed as soon as they are idle. */
  readonly closing: boolean;
  /** Answers a request, and then calls `over`. */
  serve(connection: Connection, head: RequestHead): void;
  /** A request is over, and no other has begun. */
  rested(connection: Connection): void;
  /** Notes what is no request. Returns the lines that its answer has like any other. */
  noteRefusal(connection: Connection, status: number): string;
}

/** Who takes the bytes that come, instead of the connection. */
export interface Receiver {
  /** Null if the part is taken; otherwise its memory is used again when the promise resolves. */
  take(part: Bytes): Promise<unknown> | null;
  /** Nothing more will come. */
  end(): void;
}

/** There are none as long as this. */
const METHOD_CHARS_MAX = 31;
const HEAD_END = "\r\n\r\n";
const LF = 0x0a;
const CR = 0x0d;
const MAPPED_IPV4 = "::ffff:";
/** Where many connections share memory: all that comes there is copied. */
const SHARED_READ_BYTES = 16 * KIB;
/** At one go may come: a page with a head, 64 KiB of a body, and a page for who writes behind it. */
const OWN_READ_BYTES = 72 * KIB;
/** So many need not share. */
const OWNERS = 128;

const memory = new ReadMemory({
  shared: SHARED_READ_BYTES,
  own: OWN_READ_BYTES,
  owners: OWNERS,
});

/**
 * A client's connection. Its requests run one after the other, in the order in which they came:
 * clients that send the next before they have the answer to the last mean exactly that.
 */
export class Connection implements Counted, Transfer, Reader {
  readonly socket: Socket;
  /** IPv4 looks the same whether or not it came through a socket that also takes IPv6. */
  readonly remoteAddress: string;
  /** Whether the answer to the request that is under way, or a part of it, is sent. */
  isAnswered = false;
  /** Whether the connection is closed once it is. */
  isLast = false;
  /** Whether there is no room for this connection: it gets a 503, and is closed. */
  readonly isSurplus: boolean;
  readonly #owner: ConnectionOwner;
  /** What has come, and nobody has taken yet. */
  #held = NO_BYTES;
  /** The memory that it lies in, if that was lent for the request that is under way. */
  #lent: Bytes | null = null;
  #endBorrowed: () => void = () => {};
  /** Of the last request: those of a client are mostly alike. */
  #headBytes = 0;
  /** So much of it is known not to hold the end of a head. */
  #searched = 0;
  #receiver: Receiver | null = null;
  #isBusy = false;
  #hasServed = false;
  /** Bytes of the body that are still to come. */
  #bodyBytesAhead = 0;
  /** Nothing is read any more: the client has ended, or was refused. */
  #isEnded = false;
  /** How long it has been waiting for a request. */
  #waitedMs = 0;
  /** Sees to it that the client reads its answer. */
  #pace: Pace | null = null;
  #unsent: UnsentAnswers | null = null;

  constructor(accepted: Socket, owner: ConnectionOwner, isSurplus = false) {
    const socket = memory.socketOf(accepted, this);
    this.socket = socket;
    this.remoteAddress = remoteAddressOf(socket);
    this.isSurplus = isSurplus;
    this.#owner = owner;
    socket
      .on("end", () => this.#end())
      .on("close", () => this.#close())
      // Clients go away as they like; `close` follows.
      .on("error", () => {})
      .resume();
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return !this.#isBusy;
  }

  get idleRank(): number | null {
    return this.#isBusy ? null : 0;
  }

  close(): void {
    this.socket.destroy();
  }

  get waiting(): boolean {
    return this.socket.writableLength > 0;
  }

  get moved(): number {
    return bytesTakenFrom(this.socket);
  }

  cut(): void {
    this.socket.destroy();
  }

  take(chunk: Bytes, memory: Bytes | null): Promise<unknown> | null {
    this.#bodyBytesAhead = Math.max(0, this.#bodyBytesAhead - chunk.length);
    if (this.#receiver !== null) return this.#receiver.take(chunk);
    const isLent = memory !== null && !this.#isBusy && this.#held.length === 0;
    if (isLent) this.#lent = memory;
    this.#hold(chunk, isLent);
    return isLent ? this.#untilServed() : null;
  }

  /** A body is best read to where it can be written from. */
  get bytesBeforePage(): number {
    return this.#bodyBytesAhead > 0 ? 0 : this.#headBytes;
  }

  /** Whoever takes a body that is on its way may hold on to parts of it. */
  mayHold(): boolean {
    return this.#bodyBytesAhead > 0;
  }

  /** As much as has come of the next bytes, but not more than asked for. */
  takeHeld(bytesMax: number): Bytes {
    const taken = this.#held.subarray(0, bytesMax);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /**
   * The next bytes where they lie, and the memory behind them, so much in all: if it was lent, begins
   * on a page, and has nothing else in it.
   */
  takePages(length: number, bytes: number): Bytes | null {
    if (this.#lent === null || this.#held.length !== length) return null;
    const pages = pagesAt(this.#held, this.#lent, bytes);
    if (pages !== null) this.#held = NO_BYTES;
    return pages;
  }

  /** Whether so many bytes are here already. */
  holds(bytes: number): boolean {
    return this.#held.length >= bytes;
  }

  /** From now on `receiver` gets all that comes, and first of all what has come. */
  receive(receiver: Receiver): void {
    this.#receiver = receiver;
    this.socket.resume();
    const held = this.takeHeld(this.#held.length);
    if (held.length > 0) receiver.take(held);
    if (this.#isEnded) receiver.end();
  }

  /** The receiver wants no more; `surplus` is what it had too much. */
  stopReceiving(surplus: Bytes): void {
    this.#receiver = null;
    this.#held = copied(surplus);
  }

  /** Cuts the client if it does not read on, until the answer is over. */
  watchReader(pace: Pace): void {
    this.#pace = pace;
    pace.watch(this);
  }

  /** So much of the answer is in memory until the client takes it, or is cut for the sake of others. */
  holdUnsent(unsent: UnsentAnswers, bytes: number): void {
    this.#unsent = unsent;
    unsent.hold(this, bytes);
  }

  /**
   * Nobody looks at what has come of the request any more: its memory may be used again. Also when
   * there is nobody to answer; and once more after `over` has begun the next one, which has a copy.
   */
  served(): void {
    if (this.#lent === null) return;
    this.#endUseOfLent();
    this.#endBorrowed();
  }

  /** The request has been read and its answer sent. */
  over(): void {
    this.served();
    this.#forgetReader();
    this.#isBusy = false;
    this.#waitedMs = 0;
    if (this.isLast) this.socket.destroySoon();
    if (this.socket.destroyed || this.isLast) return;
    if (this.#held.length > 0) this.#beginNext();
    if (this.#isBusy) return;
    if (this.#isEnded || this.#owner.closing) this.socket.destroySoon();
    else if (this.socket.isPaused()) this.socket.resume();
    this.#owner.rested(this);
  }

  /** So much time has passed: closes the connection if it has waited too long for a request. */
  wait(ms: number): void {
    if (this.#isBusy) return;
    const { headersMs, keepAliveMs } = this.#owner.limits;
    const isBegun = !this.#hasServed || this.#held.length > 0;
    this.#waitedMs += ms;
    if (isBegun) {
      if (this.#waitedMs > headersMs) this.#refuse(408);
    } else if (keepAliveMs !== 0 && this.#waitedMs > keepAliveMs) {
      this.socket.destroySoon();
    }
  }

  /** A request that begins in memory that was lent has it until it is served; null if none does. */
  #untilServed(): Promise<void> | null {
    if (!this.#isBusy) this.#endUseOfLent();
    if (this.#lent === null) return null;
    return new Promise((resolve) => {
      this.#endBorrowed = resolve;
    });
  }

  #endUseOfLent(): void {
    this.#lent = null;
    this.#held = copied(this.#held);
  }

  #hold(chunk: Bytes, isLent: boolean): void {
    if (this.#isEnded) return;
    const isFirst = this.#held.length === 0;
    if (!isFirst) this.#held = Buffer.concat([this.#held, chunk]);
    else this.#held = isLent ? chunk : Buffer.from(chunk);
    if (this.#isBusy) {
      if (this.#held.length >= this.#owner.limits.heldBytesMax) this.socket.pause();
      return;
    }
    this.#held = withoutBlankLines(this.#held);
    // Blank lines between requests are no sign of life.
    if (isFirst && this.#held.length > 0) this.#waitedMs = 0;
    if (this.#held.length > 0) this.#beginNext();
  }

  /** Serves the next request if its head is here. */
  #beginNext(): void {
    this.#held = withoutBlankLines(this.#held);
    const { headerBytesMax } = this.#owner.limits;
    const end = this.#held.indexOf(HEAD_END, this.#searched, "latin1");
    if (end > headerBytesMax || (end < 0 && this.#held.length > headerBytesMax)) {
      this.#refuse(431);
    } else if (end >= 0) {
      this.#serve(end);
    } else if (mayBeHead(this.#held.toString("latin1", 0, METHOD_CHARS_MAX + 1))) {
      this.#searched = Math.max(0, this.#held.length - HEAD_END.length + 1);
    } else {
      this.#refuse(400);
    }
  }

  #serve(headEnd: number): void {
    const head = parseHead(this.#held.toString("latin1", 0, headEnd + 2));
    this.#headBytes = headEnd + HEAD_END.length;
    this.#held = this.#held.subarray(this.#headBytes);
    this.#searched = 0;
    if (typeof head === "number") {
      this.#refuse(head);
      return;
    }
    this.#bodyBytesAhead = Math.max(0, head.bodyBytes - this.#held.length);
    if (this.#held.length === 0) this.#lent = null;
    this.#isBusy = true;
    this.#hasServed = true;
    this.isAnswered = false;
    this.isLast = this.isSurplus || !head.keepsAlive;
    this.#owner.serve(this, head);
  }

  /** For what is no request that a service could answer. */
  #refuse(status: number): void {
    this.#held = NO_BYTES;
    this.#isEnded = true;
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
    const lines = this.#owner.noteRefusal(this, status);
    const last = "Content-Length: 0\r\nConnection: close";
    this.socket.write(`${line}\r\n${lines}${last}\r\n\r\n`, "latin1");
    this.socket.destroySoon();
  }

  #end(): void {
    this.#isEnded = true;
    this.#receiver?.end();
    if (!this.#isBusy) this.socket.destroySoon();
  }

  #close(): void {
    this.#isEnded = true;
    this.#forgetReader();
    this.#receiver?.end();
  }

  #forgetReader(): void {
    this.#pace?.forget(this);
    this.#pace = null;
    this.#unsent?.release(this);
    this.#unsent = null;
  }
}

export function remoteAddressOf({ remoteAddress = "" }: Socket): string {
  return remoteAddress.startsWith(MAPPED_IPV4)
    ? remoteAddress.slice(MAPPED_IPV4.length)
    : remoteAddress;
}

function copied(bytes: Bytes): Bytes {
  return bytes.length === 0 ? NO_BYTES : Buffer.from(bytes);
}

/** Some clients send a line more than they should behind a body. */
function withoutBlankLines(bytes: Bytes): Bytes {
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start++;
  return start === 0 ? bytes : bytes.subarray(start);
}
