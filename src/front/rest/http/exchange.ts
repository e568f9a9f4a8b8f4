import type { BufferOwner } from "../../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";
import type { Fault } from "../../../base/fault.ts";
import type { MemoryBudget } from "../../../base/memory-budget.ts";
import type { Access } from "../../../rules/access.ts";
import type { RestServiceName } from "../../outcome.ts";
import type { Rendering } from "./rendering.ts";
import type { RequestFacts } from "./request-facts.ts";

/** A request as handlers see it, whichever listener it came through. */
export interface RestRequest {
  /** `x-ms-request-id` */
  readonly id: string;
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** The path as it was sent, percent-encoded. */
  readonly path: string;
  readonly query: Query;
  readonly headers: RequestHeaders;
  /**
   * The protocol version that the client asked for (any date), or the newest that we know. The
   * service may set it to the account's default. Every answer repeats it.
   */
  version: string;
  /**
   * Empty if the client sent none. A client that sent `Expect: 100-continue` is asked for the body
   * when it is drained, so a refusal before that costs no upload.
   */
  readonly body: Body;
  /** Memory for a body that is read whole, shared by all requests of the server. */
  readonly wholeBodies: MemoryBudget;
  /** Memory for a long document in the answer; a request inside of another one has none. */
  readonly rendering?: Rendering;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly receivedMs: Instant;
  /**
   * The time by which its credentials are judged: `receivedMs`, unless a lab has moved the clock of
   * its account.
   */
  judgedMs: Instant;
  /** A lab around the service; most servers have none. */
  gate?: CallGate | undefined;
  /** Cuts the connection instead of an answer; a request inside of another one has none. */
  cut?(): void;
  /** Filled in by the service, for the outcome. */
  readonly facts: RequestFacts;
}

export interface RequestHeaders {
  /** The value of a header, by its name in lower case. */
  get(name: string): string | undefined;
  /** Names as sent, each followed by its value, in the order of the request. */
  readonly raw: readonly string[];
}

/** Decoded query parameters. Names are in lower case, because the service ignores their case. */
export interface Query {
  get(name: string): string | undefined;
  /** The value of a parameter in which an unencoded plus is a blank, as in forms. */
  form(name: string): string | undefined;
  /** In the order of the request; a name may occur more than once. */
  readonly entries: readonly (readonly [name: string, value: string])[];
}

export interface RestResponse {
  readonly status: number;
  /**
   * Each name is followed by its value. The listener adds the headers of every answer (request id,
   * version, date…) and the length of the body; only the answer to a HEAD states its own
   * Content-Length.
   */
  readonly headers: string[];
  readonly body: ResponseBody;
}

export type ResponseBody = null | string | Bytes | ResponseStream;

/** A body that is sent in parts. The listener calls `close` once, whether it was sent or not. */
export interface ResponseStream extends BufferOwner {
  readonly length: number;
  /** Whether all of it is in memory already, so that reading it needs no budget. */
  readonly isAtHand?: boolean;
  close(): void;
}

/** One service behind a listener. */
export interface RestService {
  readonly name: RestServiceName;
  /** Answers a request, or throws: a Fault to refuse it, anything else if something is broken. */
  handle(request: RestRequest): Promise<RestResponse>;
  /** Renders a refusal. Errors of other kinds have become a Fault before this call. */
  renderFault(fault: Fault, request: RestRequest): RestResponse;
}

/** What a routed and authenticated request is about. */
export interface GatedCall {
  /** As the route names it: `putBlob`. */
  readonly operation: string;
  readonly account: string;
  /** Container, queue, table or share; "" for the account itself. */
  readonly container: string;
  /** Blob, or path within the share; "" if there is none. */
  readonly object: string;
  /** What its credentials grant. */
  readonly access: Access;
}

/** A write inside of a batch that happens as a whole. */
export interface GatedPart {
  /** As the route names it: `insertEntity`. */
  readonly operation: string;
  /** `table(PartitionKey='…',RowKey='…')`, percent-encoded. */
  readonly object: string;
  readonly request: RestRequest;
}

/** Stands between a service and its handlers: for experiments of a lab, or to judge and not to act. */
export interface CallGate {
  /** The time by which requests to this account are judged. */
  now(account: string): Instant;
  /** Answers a call: with what `handle` answers, sooner or later, or otherwise. */
  pass(
    request: RestRequest,
    call: GatedCall,
    handle: () => Promise<RestResponse>,
  ): Promise<RestResponse>;
  /** Learns the writes of a batch, before they happen. */
  learn(batch: RestRequest, parts: readonly GatedPart[]): void;
}
