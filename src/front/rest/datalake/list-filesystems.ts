import { etagOf } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import { type ListedContainer, listContainers } from "../../../service/blob/list-containers.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { nameFromQuery, resultsMaxOf } from "../request-query.ts";
import type { DataLakeCall } from "./call.ts";
import { continuationHeaders, continuationOf } from "./continuation.ts";
import { JsonList } from "./json-list.ts";

export async function handleListFilesystems(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const after = continuationOf(query);
  const pages = listContainers(context, {
    account: call.account,
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    after: after === null ? null : { name: after, version: null },
    resultsMax: resultsMaxOf(query),
    deleted: false,
    system: false,
  });
  const list = new JsonList("filesystems");
  let next: string | null = null;
  for await (const page of pages) {
    await list.addAll(page.containers, filesystemValue);
    next = page.next?.name ?? null;
    if (list.isFull) break;
  }
  return list.answer(continuationHeaders(next));
}

function filesystemValue({ name, container }: ListedContainer): object {
  const etag = `"${etagOf(container.etag)}"`;
  return { name, lastModified: rfc1123(container.modifiedMs), etag, eTag: etag };
}
