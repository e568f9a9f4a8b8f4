import { rfc1123 } from "../../../base/time-text.ts";
import { DELETE, READ, WRITE } from "../../../rules/share-mode.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { type ListedHandle, listHandles } from "../../../service/file/list-handles.ts";
import type { RestResponse } from "../http/exchange.ts";
import { echoed, nameElement } from "../list-elements.ts";
import { flagOf } from "../request-headers.ts";
import { resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { attribute, element, XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { type FileCall, pathAskedOf } from "./call.ts";
import { handleMarker, handleMarkOf } from "./handle-marker.ts";

export async function handleListHandles(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { query, headers } = call.request;
  const { handles, next } = await listHandles(context, {
    ...pathAskedOf(call),
    isRecursive: flagOf(headers, "x-ms-recursive"),
    after: handleMarkOf(query),
    resultsMax: resultsMaxOf(query),
  });
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", call.endpoint)}>` +
      echoed(query, "marker", "Marker") +
      echoed(query, "maxresults", "MaxResults") +
      "<Entries>",
  );
  await xml.addAll(handles, handleElement);
  xml.add(
    `</Entries>${element("NextMarker", next === null ? "" : handleMarker(next))}` +
      "</EnumerationResults>",
  );
  return { status: 200, headers: [...XML_CONTENT], body: xml.done() };
}

const RIGHTS = [
  ["Read", READ],
  ["Write", WRITE],
  ["Delete", DELETE],
] as const;

function handleElement({ place, handle, path, parent }: ListedHandle): string {
  const rights = RIGHTS.filter(([, bit]) => (handle.access & bit) !== 0);
  return (
    `<Handle><HandleId>${place.handle}</HandleId>${nameElement("Path", path)}` +
    `<FileId>${place.id}</FileId><ParentId>${parent}</ParentId>` +
    `<SessionId>${handle.sessionId}</SessionId>${element("ClientIp", handle.clientIp)}` +
    `<OpenTime>${rfc1123(handle.openedMs)}</OpenTime><AccessRightList>` +
    `${rights.map(([word]) => element("AccessRight", word)).join("")}</AccessRightList></Handle>`
  );
}
