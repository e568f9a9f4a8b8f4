import type { RestRequest } from "./exchange.ts";

/** Where a listener reports to. An omitted log costs nothing. */
export interface HttpLog {
  /** Receives errors of the engine or of the program. */
  failure(requestId: string, error: unknown, asked?: Asked): void;
  /** Requests and answers with all their headers, without secrets. */
  readonly debug?: (text: string) => void;
}

/** The request during which something failed; its path names the object. */
export type Asked = Pick<RestRequest, "method" | "path">;
