import type { Bytes } from "../../../base/bytes.ts";
import { fileTimeOfStamp } from "../../../base/file-time.ts";
import { etagOf, stampOf } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import { listPaths } from "../../../service/blob/list-paths.ts";
import type { ListedPath } from "../../../service/blob/listed-path.ts";
import type { Blob } from "../../../service/blob/records.ts";
import { shownPermissions } from "../../../service/blob/shown-access-control.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { nameFromQuery, requireFromQuery, resultsMaxOf } from "../request-query.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireValidUpn } from "./access-control-headers.ts";
import { addressOf, type DataLakeCall } from "./call.ts";
import { continuationHeaders, continuationOf } from "./continuation.ts";
import { JsonList } from "./json-list.ts";
import { flagFromQuery } from "./query-flag.ts";

export async function handleListPaths(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { query } = call.request;
  requireFromQuery(query, "recursive");
  requireValidUpn(query);
  const pages = listPaths(context, {
    at: addressOf(call),
    access: call.access,
    directory: call.route.blob,
    isRecursive: flagFromQuery(query, "recursive"),
    beginFrom: nameFromQuery(query, "beginfrom").replace(/^\/+/, ""),
    after: continuationOf(query),
    resultsMax: resultsMaxOf(query),
  });
  const list = new JsonList("paths");
  let next: string | null = null;
  let version: string[] = [];
  for await (const page of pages) {
    await list.addTexts(page.items, textOf);
    next = page.next;
    version = versionHeaders(page.container);
    if (list.isFull) break;
  }
  return list.answer([...version, ...continuationHeaders(next)]);
}

function textOf(path: ListedPath): Bytes {
  return path.text("List Paths ", (shown) => `,${JSON.stringify(pathValue(shown))}`);
}

/** Nothing in a flat container. */
function hierarchyValue({ path, terms }: Blob): object {
  if (path === null) return {};
  if (terms === null) return shownPermissions(path.control);
  const { expiresMs, encryptionContext } = terms;
  return {
    ...shownPermissions(path.control),
    ...(expiresMs === null ? {} : { expiryTime: String(fileTimeOfStamp(stampOf(expiresMs))) }),
    ...(encryptionContext === "" ? {} : { EncryptionContext: encryptionContext }),
  };
}

/** The service writes numbers and booleans as texts, and leaves out what is false. */
function pathValue({ name, kind, blob }: ListedPath): object {
  const directory = kind === "directory" ? { isDirectory: "true" } : {};
  if (blob === null) return { name, ...directory, contentLength: "0" };
  const etag = etagOf(blob.etag);
  return {
    name,
    ...directory,
    contentLength: String(blob.content.length),
    creationTime: String(fileTimeOfStamp(stampOf(blob.createdMs))),
    // Some clients look for one name, some for the other.
    etag,
    eTag: etag,
    lastModified: rfc1123(blob.modifiedMs),
    ...hierarchyValue(blob),
  };
}
