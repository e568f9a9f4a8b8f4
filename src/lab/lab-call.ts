import type { GatedPart, RestRequest } from "../front/rest/http/exchange.ts";
import type { SeenRequest } from "./active-rules.ts";
import type { BodyShape } from "./shaped-body.ts";

/** A request on its way through the lab. */
export class LabCall {
  readonly request: RestRequest;
  readonly seen: SeenRequest;
  /** Ids of the rules that it has met. */
  readonly met = new Set<number>();
  hasRead = false;
  hasDecided = false;
  shape: BodyShape | null = null;
  /** The writes of a change set, once they are read; null for other requests. */
  parts: readonly GatedPart[] | null = null;

  constructor(request: RestRequest, seen: SeenRequest) {
    this.request = request;
    this.seen = seen;
  }
}
