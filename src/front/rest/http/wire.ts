import type { Socket } from "node:net";
import type { Bytes } from "../../../base/bytes.ts";
import type { AnswerHead } from "./answer-head.ts";

/** Receives the bytes of a body as they arrive. */
export interface Receiver {
  /** Null if the part is taken; otherwise its memory is free again when the promise resolves. */
  take(part: Bytes): Promise<unknown> | null;
  /** Called if no more bytes will arrive. */
  end(): void;
}

/** Where the body of a request comes from. */
export interface BodySource {
  /**
   * The next bytes, if this many are in memory already, and behind them `room` bytes of memory that
   * nothing else uses (default 0). They stay valid until the exchange ends.
   */
  takeNow(bytes: number, room?: number): Bytes | null;
  /** From now on `receiver` gets the bytes that have come, and all that follow. */
  receive(receiver: Receiver): void;
  /** Ends `receive`. `surplus` came behind the body: it belongs to the next request. */
  stopReceiving(surplus: Bytes): void;
  pause(): void;
  resume(): void;
}

/**
 * The connection below one exchange. Each listener has its own kind: `connection.ts` writes to the
 * socket itself, `node-connection.ts` goes through Node's HTTP server.
 */
export interface Wire extends BodySource {
  /** To see whether the client is gone, to watch its progress, and to cut it off. */
  readonly socket: Socket;
  readonly remoteAddress: string;
  /** Whether the connection exceeds the limit: its request gets a 503, and it is closed. */
  readonly isSurplus: boolean;
  /** Tells a client that sent `Expect: 100-continue` to send its body. */
  sendContinue(): void;
  sendHead(head: AnswerHead): void;
  /** Sends a part of the body, and calls `done` when the system has taken it. */
  sendParts(parts: readonly Bytes[], done: () => void): void;
  /**
   * Sends a whole answer, and calls `sending.sent()` when the system has taken it or the client has
   * gone; mostly before it returns.
   */
  sendWhole(head: AnswerHead, body: Bytes | null, sending: { sent(): void }): void;
  /** The exchange is over: frees what it received, and begins the next one or closes. */
  over(isLast: boolean): void;
}
