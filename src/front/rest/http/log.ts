import type { Instant } from "../../../base/clock.ts";

/** Where a listener reports to. What nobody reads is left out, and costs nothing. */
export interface HttpLog {
  /** Something is broken: the engine, or the program. */
  failure(requestId: string, error: unknown): void;
  /** After every answer. */
  readonly access?: (access: Access) => void;
  /** Requests and answers with all their headers, secrets taken out. */
  readonly debug?: (text: string) => void;
}

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
