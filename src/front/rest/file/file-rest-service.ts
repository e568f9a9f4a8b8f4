import { Fault } from "../../../base/fault.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import { spellXmlError } from "../spell-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import type { FileFront, FileHandler } from "./call.ts";
import { FILE_HANDLERS } from "./handlers.ts";
import { type FileOperationName, type FileRoute, routeFile } from "./route.ts";

export class FileRestService extends StorageRestService<FileRoute> {
  constructor(context: FileFront, accounts: Accounts, auth: AuthOptions) {
    super(protocolOn(context), context, accounts, auth);
  }
}

function protocolOn(context: FileFront): StorageProtocol<FileRoute> {
  return {
    name: "file",
    route: ({ method, query, headers }, path) => routeFile(method, path, query, headers),
    resourceOf: ({ share, path }) => ({ service: "file", container: share, name: path.join("/") }),
    handle: (call) => handlerOf(call.route.operation)(context, call),
    spell: spellXmlError,
  };
}

function handlerOf(operation: FileOperationName): FileHandler {
  const handler = FILE_HANDLERS[operation];
  if (handler !== undefined) return handler;
  throw new Fault("NotImplemented", {
    Reason: `This server does not support the operation ${operation} yet.`,
  });
}
