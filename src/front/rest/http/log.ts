import type { Instant } from "../../../base/clock.ts";
import type { RestRequest } from "./exchange.ts";

/** Where a listener reports to. An omitted log costs nothing. */
export interface HttpLog {
  /** Something is broken: the engine, or the program. */
  failure(requestId: string, error: unknown, asked?: Asked): void;
  /** After every answer. */
  readonly access?: (access: Access) => void;
  /** Requests and answers with all their headers, without secrets. */
  readonly debug?: (text: string) => void;
}

/** The request during which something failed; its path names the object. */
export type Asked = Pick<RestRequest, "method" | "path">;

export interface Access {
  readonly atMs: Instant;
  readonly tookMs: number;
  readonly service: string;
  readonly requestId: string;
  readonly remoteAddress: string;
  readonly method: string;
  /** Path and query, without signatures. */
  readonly target: string;
  readonly status: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Whether the connection was closed before the whole answer was sent. */
  readonly aborted: boolean;
}
