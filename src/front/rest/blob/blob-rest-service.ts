import { Fault } from "../../../base/fault.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import type { Contexts } from "../contexts.ts";
import { renderXmlError } from "../render-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import type { BlobFront, BlobHandler } from "./call.ts";
import { BLOB_FIELD_VERSIONS } from "./field-versions.ts";
import { BLOB_HANDLERS } from "./handlers.ts";
import { type BlobOperationName, type BlobRoute, routeBlob } from "./route.ts";

export class BlobRestService extends StorageRestService<BlobRoute, BlobFront> {
  constructor(context: BlobFront | Contexts<BlobFront>, accounts: Accounts, auth: AuthOptions) {
    super(PROTOCOL, context, accounts, auth);
  }
}

const PROTOCOL: StorageProtocol<BlobRoute, BlobFront> = {
  name: "blob",
  fields: BLOB_FIELD_VERSIONS,
  route: ({ method, query, headers }, path) => routeBlob(method, path, query, headers),
  resourceOf: ({ container, blob }) => ({ service: "blob", container, name: blob }),
  handle: (context, call) => handlerOf(call.route.operation)(context, call),
  renderError: renderXmlError,
};

function handlerOf(operation: BlobOperationName): BlobHandler {
  const handler = BLOB_HANDLERS[operation];
  if (handler !== undefined) return handler;
  throw new Fault("NotImplemented", {
    Reason: `This server does not support the operation ${operation} yet.`,
  });
}
