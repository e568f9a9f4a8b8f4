import { type AuthKind, UNKNOWN_OPERATION } from "../../outcome.ts";
import type { RestRequest, RestResponse } from "./exchange.ts";

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
  /** The requests inside a batch that were answered; null for most requests. */
  inner: Answered[] | null = null;

  /** Adds a request inside this batch. */
  addInner(request: RestRequest, response: RestResponse): void {
    this.inner ??= [];
    this.inner.push({ request, response });
  }
}

/** A request with its answer. */
interface Answered {
  readonly request: RestRequest;
  readonly response: RestResponse;
}
