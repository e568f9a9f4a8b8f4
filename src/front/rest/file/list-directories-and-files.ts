import { isoOfFileTime } from "../../../base/file-time.ts";
import { etagOf, isoOfStamp } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { FileContext } from "../../../service/file/context.ts";
import {
  type ListDirectoriesAndFiles,
  type ListedFile,
  listDirectoriesAndFiles,
} from "../../../service/file/list-directories-and-files.ts";
import type { Query, ResponseBody, RestResponse } from "../http/exchange.ts";
import { echoed, nameElement } from "../list-elements.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { flagOf } from "../request-headers.ts";
import { includesOf, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { attribute, element, hasInvalidXmlCharacters, XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { type FileCall, pathAskedOf } from "./call.ts";
import { attributesText } from "./item-headers.ts";

const INCLUDES = ["timestamps", "etag", "attributes", "permissionkey"];
/** Since this version, lists always have ids. */
const IDS_SINCE = "2020-10-02";

export async function handleListDirectoriesAndFiles(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  const includes = includesOf(query, INCLUDES);
  const isExtended = includes.size > 0 || flagOf(headers, "x-ms-file-extended-info");
  const withIds = isExtended || call.version >= IDS_SINCE;
  const asked: ListDirectoriesAndFiles = {
    ...pathAskedOf(call),
    prefix: nameFromQuery(query, "prefix"),
    after: nameOfMarker(query),
    resultsMax: resultsMaxOf(query),
  };
  const body = await listXml(context, call, asked, includes, withIds);
  return { status: 200, headers: [...XML_CONTENT], body };
}

async function listXml(
  context: FileContext,
  call: FileCall,
  asked: ListDirectoriesAndFiles,
  includes: ReadonlySet<string>,
  withIds: boolean,
): Promise<ResponseBody> {
  const { query } = call.request;
  const { share, path, snapshot } = asked.at;
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", call.endpoint)}` +
      attribute("ShareName", share) +
      (snapshot === null ? "" : attribute("ShareSnapshot", isoOfStamp(snapshot))) +
      `${pathAttribute(path.join("/"))}>` +
      echoed(query, "prefix", "Prefix") +
      echoed(query, "marker", "Marker") +
      echoed(query, "maxresults", "MaxResults"),
  );
  let next: string | null = null;
  let isBegun = false;
  for await (const page of listDirectoriesAndFiles(context, asked)) {
    if (!isBegun && withIds) xml.add(`<DirectoryId>${page.directory.id}</DirectoryId>`);
    if (!isBegun) xml.add("<Entries>");
    isBegun = true;
    await xml.addAll(page.items, (listed) => itemElement(listed, includes, withIds));
    next = page.next;
    if (xml.isFull) break;
  }
  const marker = next === null ? "" : markerText(next);
  xml.add(`</Entries>${element("NextMarker", marker)}</EnumerationResults>`);
  return xml.done();
}

/** Formats the path, percent-encoded if XML cannot carry it. */
function pathAttribute(path: string): string {
  if (!hasInvalidXmlCharacters(path)) return attribute("DirectoryPath", path);
  return attribute("DirectoryPath", encodeURIComponent(path)) + attribute("Encoded", "true");
}

function itemElement(
  { item, isDirectory }: ListedFile,
  includes: ReadonlySet<string>,
  withIds: boolean,
): string {
  const kind = isDirectory ? "Directory" : "File";
  const length = "content" in item ? item.content.length : null;
  return (
    `<${kind}>${withIds ? `<FileId>${item.id}</FileId>` : ""}` +
    nameElement("Name", item.name) +
    "<Properties>" +
    (length === null ? "" : `<Content-Length>${length}</Content-Length>`) +
    (includes.has("timestamps") ? timeElements(item) : "") +
    (includes.has("etag") ? `<Etag>"${etagOf(item.etag)}"</Etag>` : "") +
    "</Properties>" +
    (includes.has("attributes") ? element("Attributes", attributesText(item.attributes)) : "") +
    (includes.has("permissionkey") ? element("PermissionKey", item.permissionKey) : "") +
    `</${kind}>`
  );
}

function timeElements(item: ListedFile["item"]): string {
  return (
    `<CreationTime>${isoOfFileTime(item.created)}</CreationTime>` +
    `<LastAccessTime>${isoOfFileTime(item.accessed)}</LastAccessTime>` +
    `<LastWriteTime>${isoOfFileTime(item.written)}</LastWriteTime>` +
    `<ChangeTime>${isoOfFileTime(item.changed)}</ChangeTime>` +
    `<Last-Modified>${rfc1123(item.modifiedMs)}</Last-Modified>`
  );
}

/** Markers hold the UTF-16 units of a name, as UTF-8 cannot carry every name. */
function nameOfMarker(query: Query): string {
  const marker = markerOf(query, ["f"]);
  return marker === null ? "" : Buffer.from(marker.text, "base64url").toString("utf16le");
}

function markerText(name: string): string {
  const text = Buffer.from(name, "utf16le").toString("base64url");
  return writeMarker({ kind: "f", text });
}
