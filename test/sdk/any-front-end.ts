import type { Fault } from "../../src/base/fault.ts";
import type { RestRequest, RestResponse, RestService } from "../../src/front/rest/http/exchange.ts";

/** Sends each request to another of several front ends, as a balancer does. */
export class AnyFrontEnd implements RestService {
  readonly name: RestService["name"];
  readonly #services: readonly RestService[];
  #requests = 0;

  constructor(services: readonly RestService[]) {
    const [first] = services;
    if (first === undefined) throw new Error("no front end");
    this.name = first.name;
    this.#services = services;
  }

  handle(request: RestRequest): Promise<RestResponse> {
    // A fixed sequence without a pattern.
    this.#requests = (Math.imul(this.#requests, 1_664_525) + 1_013_904_223) >>> 0;
    const chosen = this.#services[(this.#requests >>> 16) % this.#services.length];
    return (chosen as RestService).handle(request);
  }

  renderFault(fault: Fault, request: RestRequest): RestResponse {
    return (this.#services[0] as RestService).renderFault(fault, request);
  }
}
