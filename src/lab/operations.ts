import type { RestServiceName } from "../front/outcome.ts";
import { BLOB_HANDLERS } from "../front/rest/blob/handlers.ts";
import { DATALAKE_HANDLERS } from "../front/rest/datalake/handlers.ts";
import { FILE_HANDLERS } from "../front/rest/file/handlers.ts";
import { QUEUE_HANDLERS } from "../front/rest/queue/handlers.ts";
import { TABLE_HANDLERS } from "../front/rest/table/handlers.ts";
import { COMMAND } from "../front/smb/codec/header.ts";
import { isGated } from "../front/smb/handle-through.ts";
import { operationName as smbOperationName } from "../front/smb/operation-name.ts";

/** `PutBlob`, as logs and metrics write it, of `putBlob`. */
export function operationName(routed: string): string {
  return routed.charAt(0).toUpperCase() + routed.slice(1);
}

/** The operations of each service, as logs write them. Both doors to blobs take both protocols. */
export function operationsOf(service: RestServiceName): string[] {
  return HANDLERS[service].flatMap((all) => Object.keys(all).map(operationName));
}

/** The operations over SMB that rules can be about, as logs write them. */
export const SMB_OPERATIONS: readonly string[] = Object.values(COMMAND)
  .filter(isGated)
  .map(smbOperationName);

const HANDLERS: Readonly<Record<RestServiceName, readonly object[]>> = {
  blob: [BLOB_HANDLERS, DATALAKE_HANDLERS],
  dfs: [BLOB_HANDLERS, DATALAKE_HANDLERS],
  file: [FILE_HANDLERS],
  queue: [QUEUE_HANDLERS],
  table: [TABLE_HANDLERS],
};
