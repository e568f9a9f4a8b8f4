import type { Instant } from "../../../base/clock.ts";
import type { RestRequest } from "./exchange.ts";

/** Where a listener reports to. What nobody reads is left out, and costs nothing. */
export interface HttpLog {
  /** Something is broken: the engine, or the program. */
  failure(requestId: string, error: unknown, asked?: Asked): void;
  /** After every answer. */
  readonly access?: (access: Access) => void;
  /** Requests and answers with all their headers, secrets taken out. */
  readonly debug?: (text: string) => void;
}

/** The request that met a failure: its path names the object. */
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
  /** The client went away before it had the whole answer. */
  readonly aborted: boolean;
}
