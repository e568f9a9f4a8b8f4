import type { Body, Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";

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
  /** In the order in which they came; a name may come more than once. */
  readonly entries: readonly (readonly [name: string, value: string])[];
}

export interface RestResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: ResponseBody;
}

export type ResponseBody = null | string | Bytes | ResponseStream;

/** A body that is sent in parts. `close` is called in the end, sent or not. */
export interface ResponseStream {
  readonly length: number;
  parts(): AsyncIterable<Bytes>;
  close(): void;
}

/** One service behind a listener. */
export interface RestService {
  /** `blob`, `queue`, …: for logs and the ready line. */
  readonly name: string;
  /**
   * Answers a request, refusals included: only what is broken is thrown. `proceed` tells a client
   * that waits with its body (`Expect: 100-continue`) to send it; reading the body does so too.
   */
  handle(request: RestRequest): Promise<RestResponse>;
  /** How this service spells an error. */
  spell(error: unknown, request: RestRequest): RestResponse;
}
