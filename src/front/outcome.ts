import type { Instant } from "../base/clock.ts";

/**
 * The kinds of credentials that a caller can show. Whether they were accepted is in the status.
 * `none`: the request was refused before anybody looked for credentials. `other`: an Authorization
 * header of an unknown scheme.
 */
export const AUTH_KINDS = [
  "none",
  "anonymous",
  "sharedKey",
  "sharedKeyLite",
  "bearer",
  "accountSas",
  "serviceSas",
  "userDelegationSas",
  "ntlm",
  "other",
] as const;

export type AuthKind = (typeof AUTH_KINDS)[number];

/** The operation of a request that fits none. */
export const UNKNOWN_OPERATION = "Unknown";

/** What came of one operation, on any protocol. Logs and metrics are made of these. */
export type Outcome = RestOutcome | SmbOutcome;

/** Receives each outcome once, when the operation is over. Must not throw. */
export type OnOutcome = (outcome: Outcome) => void;

interface OutcomeFields {
  /** When the request arrived. */
  readonly atMs: Instant;
  /** From then to the end of the answer, with fractions. */
  readonly tookMs: number;
  /** `PutBlob`, `Create`, or `UNKNOWN_OPERATION`. */
  readonly operation: string;
  /** Null if the request names no account of this server. */
  readonly account: string | null;
  /** The container, queue, table or share, decoded; null if there is none. */
  readonly container: string | null;
  readonly auth: AuthKind;
  /** The code of a refusal or failure: `ConditionNotMet`, `STATUS_SHARING_VIOLATION`. */
  readonly code: string | null;
  /** Bytes of data that came and went, without heads. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly requestId: string;
  readonly remoteAddress: string;
}

export const REST_SERVICE_NAMES = ["blob", "queue", "table", "file", "dfs"] as const;

export type RestServiceName = (typeof REST_SERVICE_NAMES)[number];

export interface RestOutcome extends OutcomeFields {
  readonly service: RestServiceName;
  /** The HTTP status. */
  readonly status: number;
  /** The method and target are null if what came was no HTTP request. */
  readonly method: string | null;
  /**
   * Path and query without signatures, in printable ASCII. What clients may not send as it is, such
   * as quotes and backslashes, is percent-encoded.
   */
  readonly target: string | null;
  readonly clientRequestId: string | null;
  /** The id of the batch that the request was in; null for most. */
  readonly batchId: string | null;
  /** Whether the connection was closed before the whole answer was sent. */
  readonly aborted: boolean;
  /** Further facts, which few want and which take time to find. Only while the outcome is taken. */
  readonly details: () => RestDetails;
}

/** What a client demanded of an object, and found. */
export interface RestDetails {
  /** The client's program, as it describes itself. */
  readonly agent: string | null;
  /** `If-Match: "0x8D…"` */
  readonly conditions: readonly string[];
  readonly leaseId: string | null;
  /** The ETag in the answer. */
  readonly etag: string | null;
  /** Its other headers that say what to do, without secrets: `x-ms-blob-type: BlockBlob`. */
  readonly headers: () => readonly string[];
  /**
   * The request as it was sent, with its signature: to be judged once more, and never to be logged
   * or shown. Null if what came was no HTTP request.
   */
  readonly sent: () => SentRequest | null;
}

/** A request without its body. */
export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Each name is followed by its value. */
  readonly headers: readonly string[];
  readonly isSecure: boolean;
  readonly remoteAddress: string;
  readonly receivedMs: Instant;
  /** The time by which its credentials were judged. */
  readonly judgedMs: Instant;
}

export const NO_DETAILS: RestDetails = {
  agent: null,
  conditions: [],
  leaseId: null,
  etag: null,
  headers: () => [],
  sent: () => null,
};

export interface SmbOutcome extends OutcomeFields {
  readonly service: "smb";
  /** The NT status. */
  readonly status: number;
  /** The path below the share; null if the request is about no file. */
  readonly path: string | null;
  /** The name that a log-on claims, as the client wrote it; null for other operations. */
  readonly user: string | null;
  /** The dialect that a connection begins with: `3.1.1`; null for other operations. */
  readonly dialect: string | null;
  /** What was asked when a file was opened; null for other operations. */
  readonly open: OpenAsked | null;
  /** Whether the connection was cut instead of an answer, because the client broke the protocol. */
  readonly dropped: boolean;
}

/** How a client wants to open a file. */
export interface OpenAsked {
  readonly access: readonly FileUse[];
  /** What others may do with the file meanwhile. */
  readonly shareMode: readonly FileUse[];
  readonly disposition: string;
}

export type FileUse = "read" | "write" | "delete";

/**
 * Passes each outcome on to all that want it. Front ends look at `take` for each request, and make
 * no outcome while it is null.
 */
export class Outcomes {
  #consumers: readonly OnOutcome[] = [];
  #take: OnOutcome | null = null;

  constructor(...consumers: readonly (OnOutcome | undefined)[]) {
    for (const consumer of consumers) if (consumer !== undefined) this.add(consumer);
  }

  /** Null while nobody wants outcomes. */
  get take(): OnOutcome | null {
    return this.#take;
  }

  /** Returns a function that ends it. */
  add(consumer: OnOutcome): () => void {
    this.#set([...this.#consumers, consumer]);
    return () => this.#set(this.#consumers.filter((one) => one !== consumer));
  }

  #set(consumers: readonly OnOutcome[]): void {
    this.#consumers = consumers;
    const [first = null] = consumers;
    this.#take =
      consumers.length <= 1
        ? first
        : (outcome) => {
            for (const take of consumers) take(outcome);
          };
  }
}
