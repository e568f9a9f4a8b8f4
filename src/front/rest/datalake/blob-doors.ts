import type { Fault } from "../../../base/fault.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import { BlobRestService } from "../blob/blob-rest-service.ts";
import type { BlobFront } from "../blob/call.ts";
import { Contexts } from "../contexts.ts";
import type { RestRequest, RestResponse, RestService } from "../http/exchange.ts";
import { renderDfsError } from "../render-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import { DATALAKE_FIELD_VERSIONS } from "./field-versions.ts";
import { DATALAKE_HANDLERS } from "./handlers.ts";
import { type DataLakeRoute, routeDataLake } from "./route.ts";
import { isDataLakeHost, type Protocol, spokenProtocol } from "./spoken-protocol.ts";

/**
 * The Blob service behind a listener: the Blob protocol and that of Data Lake are two doors to the
 * same data. The name says which of them the listener's port is for.
 */
export class BlobDoors implements RestService {
  readonly name: Protocol;
  readonly #blob: RestService;
  /** The Blob protocol at the Data Lake endpoint, where new containers have directories. */
  readonly #blobAtDataLake: RestService;
  readonly #dataLake: RestService;

  constructor(
    name: Protocol,
    context: BlobFront | Contexts<BlobFront>,
    accounts: Accounts,
    auth: AuthOptions,
  ) {
    this.name = name;
    const contexts = Contexts.of(context);
    const atDataLake = contexts.map((one) => ({ ...one, isDataLake: true }));
    this.#blob = new BlobRestService(contexts, accounts, auth);
    this.#blobAtDataLake = new BlobRestService(atDataLake, accounts, auth);
    this.#dataLake = new StorageRestService(DATALAKE, atDataLake, accounts, auth);
  }

  handle(request: RestRequest): Promise<RestResponse> {
    return this.#doorOf(request).handle(request);
  }

  renderFault(fault: Fault, request: RestRequest): RestResponse {
    return this.#doorOf(request).renderFault(fault, request);
  }

  #doorOf(request: RestRequest): RestService {
    const isDataLake = this.name === "dfs" || isDataLakeHost(request.headers.get("host"));
    if (spokenProtocol(request, isDataLake) === "dfs") return this.#dataLake;
    return isDataLake ? this.#blobAtDataLake : this.#blob;
  }
}

const DATALAKE: StorageProtocol<DataLakeRoute, BlobFront> = {
  name: "blob",
  fields: DATALAKE_FIELD_VERSIONS,
  route: ({ method, query, headers }, path) => routeDataLake(method, path, query, headers),
  resourceOf: ({ container, blob }) => ({ service: "dfs", container, name: blob }),
  handle: (context, call) => DATALAKE_HANDLERS[call.route.operation](context, call),
  renderError: renderDfsError,
};
