import type { BufferOwner } from "../../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";
import type { Fault } from "../../../base/fault.ts";

/** A request as handlers see it: nothing of the listener behind it shows through. */
export interface RestRequest {
  /** `x-ms-request-id` */
  readonly id: string;
  readonly method: string;
  /** Path and query as they came over the wire. */
  readonly target: string;
  /** The path as it came over the wire, percent-encoded. */
  readonly path: string;
  readonly query: Query;
  readonly headers: RequestHeaders;
  /**
   * The version of the protocol that the client asked for (any date), or the newest that we know,
   * until the service puts the account's default there. Every answer repeats it.
   */
  version: string;
  /**
   * Empty if the client sent none. A client that waits for leave to send it (`Expect:
   * 100-continue`) gets that leave when the body is drained: cheap refusals come before.
   */
  readonly body: Body;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly receivedMs: Instant;
}

export interface RequestHeaders {
  /** The value of a header, by its name in lower case. */
  get(name: string): string | undefined;
  /** Names (as sent) and values in turn, in the order in which they came. */
  readonly raw: readonly string[];
}

/** Decoded query parameters; their names in lower case, as the service does not tell cases apart. */
export interface Query {
  get(name: string): string | undefined;
  /** The same where a plus stands for a blank, as it does in forms, unless it was encoded. */
  form(name: string): string | undefined;
  /** In the order in which they came; a name may come more than once. */
  readonly entries: readonly (readonly [name: string, value: string])[];
}

export interface RestResponse {
  readonly status: number;
  /**
   * Names and values in turn. The listener adds what every answer has (request id, version, date…)
   * and the length of the body; only the answer to a HEAD states its own Content-Length.
   */
  readonly headers: string[];
  readonly body: ResponseBody;
}

export type ResponseBody = null | string | Bytes | ResponseStream;

/** A body that is sent in parts. `close` is called once in the end, sent or not. */
export interface ResponseStream extends BufferOwner {
  readonly length: number;
  /** True if all of it is in memory already, so that reading it takes no more. */
  readonly isAtHand?: boolean;
  close(): void;
}

/** One service behind a listener. */
export interface RestService {
  /** `blob`, `queue`, …: for logs. */
  readonly name: string;
  /** Answers a request, or throws: a Fault if it refuses, anything else if something is broken. */
  handle(request: RestRequest): Promise<RestResponse>;
  /** How this service spells a refusal. What is broken is a Fault too when it comes here. */
  spell(fault: Fault, request: RestRequest): RestResponse;
}
