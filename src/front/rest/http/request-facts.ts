import type { Instant } from "../../../base/clock.ts";
import type { Fault } from "../../../base/fault.ts";
import { type AuthKind, UNKNOWN_OPERATION } from "../../outcome.ts";

/**
 * What the service learns about a request while it handles it. The outcome reports it, also if the
 * request is refused halfway.
 */
export class RequestFacts {
  /** The operation as the route names it: `putBlob`. */
  operation: string = UNKNOWN_OPERATION;
  account: string | null = null;
  container: string | null = null;
  auth: AuthKind = "none";
  /** The refusal that became an answer before it reached the listener. */
  refusal: Fault | null = null;
  /** The requests inside a batch that were answered; null for most requests. */
  inner: Answered[] | null = null;

  /** Adds a request inside this batch. */
  addInner(request: ReportedRequest, response: ReportedResponse): void {
    this.inner ??= [];
    this.inner.push({ request, response });
  }
}

/** A request with its answer. */
interface Answered {
  readonly request: ReportedRequest;
  readonly response: ReportedResponse;
}

/** A request, as far as its outcome reports it. */
export interface ReportedRequest {
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly headers: { get(name: string): string | undefined; readonly raw: readonly string[] };
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly receivedMs: Instant;
  readonly judgedMs: Instant;
  readonly facts: RequestFacts;
}

/** An answer, as far as the outcome reports it. */
export interface ReportedResponse {
  readonly status: number;
  /** A list in which each value follows its name. */
  readonly headers: readonly string[];
}
