import { Fault } from "../../../base/fault.ts";
import { CacheBreakingStore } from "../../../service/file/cache-breaking-store.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import type { Contexts } from "../contexts.ts";
import { renderFileError } from "../render-error.ts";
import { timeoutMsOf } from "../request-query.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import type { FileCall, FileFront, FileHandler } from "./call.ts";
import { FILE_FIELD_VERSIONS } from "./field-versions.ts";
import { FILE_HANDLERS } from "./handlers.ts";
import { type FileOperationName, type FileRoute, isOnFiles, routeFile } from "./route.ts";

export class FileRestService extends StorageRestService<FileRoute, FileFront> {
  constructor(context: FileFront | Contexts<FileFront>, accounts: Accounts, auth: AuthOptions) {
    super(PROTOCOL, context, accounts, auth);
  }
}

const PROTOCOL: StorageProtocol<FileRoute, FileFront> = {
  name: "file",
  fields: FILE_FIELD_VERSIONS,
  route: ({ method, query, headers }, path) => routeFile(method, path, query, headers),
  resourceOf: ({ operation, share, path }) => ({
    service: "file",
    container: share,
    name: path.join("/"),
    needsIntent: isOnFiles(operation),
  }),
  handle: (context, call) => handlerOf(call.route.operation)(contextOf(context, call), call),
  renderError: renderFileError,
};

/** How long a request waits for SMB clients to give up their caches. */
const BREAK_WAIT_MS_MAX = 30_000;

/** The context of one request, whose store breaks the caches of SMB clients. */
function contextOf(context: FileFront, { request }: FileCall): FileFront {
  const { store, contents, breaks, settingsByAccount, copies, sources } = context;
  const patienceMs = Math.min(timeoutMsOf(request.query) ?? BREAK_WAIT_MS_MAX, BREAK_WAIT_MS_MAX);
  const breaking = new CacheBreakingStore(store, breaks, patienceMs);
  return { store: breaking, contents, breaks, settingsByAccount, copies, sources };
}

function handlerOf(operation: FileOperationName): FileHandler {
  const handler = FILE_HANDLERS[operation];
  if (handler !== undefined) return handler;
  throw new Fault("NotImplemented", {
    Reason: `This server does not support the operation ${operation} yet.`,
  });
}
