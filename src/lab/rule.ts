import type { RestServiceName } from "../front/outcome.ts";

/**
 * Where a rule acts, in the order in which a request comes by.
 * - arrival: routed and authenticated; nothing has been read.
 * - read: it has read what it decides on, and has written nothing.
 * - commit: a write has been decided, and is not committed. Requests that only read never get here.
 * - answer: everything is done and durable; the answer has not been sent.
 */
export const POINTS = ["arrival", "read", "commit", "answer"] as const;

export type Point = (typeof POINTS)[number];

/** A service whose requests rules can be about. */
export type RuleService = RestServiceName | "smb";

/** What a request must be like. Fields that are left out match everything. */
export interface Match {
  /** Without one, a rule is about requests over REST. */
  readonly service?: RuleService;
  /** `PutBlob`, as the log writes it. */
  readonly operation?: string;
  readonly method?: string;
  readonly account?: string;
  /** Container, queue, table or share; `*` stands for any characters. */
  readonly container?: string;
  /** Blob, or path of a file; `*` stands for any characters. */
  readonly object?: string;
  /** `x-ms-client-request-id`; `*` stands for any characters. */
  readonly clientRequestId?: string;
  /** Headers by name; `*` stands for any characters. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of a third party. */
export interface ThirdParty {
  /** Default: that of the request that it comes between. */
  readonly service: RestServiceName | null;
  readonly account: string | null;
  readonly method: string;
  /** Behind the account: `/box/doc.txt?comp=metadata`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that matches gets this answer. */
export interface AnswerEffect {
  readonly kind: "answer";
  /** Of HTTP; null if a code is given, and over SMB. */
  readonly status: number | null;
  /** `LeaseIdMissing`; over SMB `STATUS_ACCESS_DENIED`. */
  readonly code: string | null;
  /** Seconds; null for what the status has by itself. */
  readonly retryAfter: number | null;
}

/** What happens to a request that matches. */
export type Effect =
  | AnswerEffect
  /** The connection is cut. */
  | { readonly kind: "drop" }
  | { readonly kind: "delay"; readonly ms: number }
  /** The answer ends after so many bytes of its body, and the connection is cut. */
  | { readonly kind: "truncate"; readonly bytes: number }
  | { readonly kind: "slow"; readonly bytesPerSecond: number }
  /** It waits until it is released, or until the time is over. */
  | { readonly kind: "hold"; readonly timeoutMs: number }
  /** Another request is done first. */
  | { readonly kind: "run"; readonly request: ThirdParty };

/** A rule as it was asked for. */
export interface Rule {
  readonly match: Match;
  readonly at: Point;
  readonly effect: Effect;
  /** How many requests it acts on; null for all. */
  readonly times: number | null;
  /** How many matching requests pass before. */
  readonly skip: number;
  /** The part of the matching requests that it acts on, from 0 to 1. */
  readonly chance: number;
}
