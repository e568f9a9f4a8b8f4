import { AnyOf } from "../../src/base/any-of.fixture.ts";
import type { Fault } from "../../src/base/fault.ts";
import type { RestRequest, RestResponse, RestService } from "../../src/front/rest/http/exchange.ts";

/** Sends each request to another of several front ends, as a balancer does. */
export class AnyFrontEnd implements RestService {
  readonly name: RestService["name"];
  readonly #services: AnyOf<RestService>;

  constructor(services: readonly RestService[]) {
    this.#services = new AnyOf(services);
    this.name = this.#services.next().name;
  }

  handle(request: RestRequest): Promise<RestResponse> {
    return this.#services.next().handle(request);
  }

  renderFault(fault: Fault, request: RestRequest): RestResponse {
    return this.#services.next().renderFault(fault, request);
  }
}
