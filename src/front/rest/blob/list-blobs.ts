import { etagOf } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import {
  type ListedItem,
  type ListPosition,
  listBlobs,
} from "../../../service/blob/list-blobs.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { includesOf, invalidQuery, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { attribute, element, XML_DECLARATION } from "../xml/write-xml.ts";
import type { BlobCall } from "./call.ts";
import { echoed, leaseElements, metadataElement, nameElement } from "./list-elements.ts";

/** Those that ask for what no blob of ours has yet (tags, versions, …) find nothing to add. */
const INCLUDES = [
  "snapshots",
  "metadata",
  "uncommittedblobs",
  "copy",
  "deleted",
  "tags",
  "versions",
  "deletedwithversions",
  "immutabilitypolicy",
  "legalhold",
  "permissions",
];

export async function handleListBlobs(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { query } = call.request;
  const includes = includesOf(query, INCLUDES);
  const delimiter = query.get("delimiter") ?? "";
  if (delimiter !== "" && includes.has("snapshots")) {
    throw invalidQuery("include", query.get("include") ?? "", "Snapshots exclude a delimiter.");
  }
  const { items, next } = await listBlobs(context, {
    at: call,
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    delimiter,
    startFrom: nameFromQuery(query, "startfrom"),
    after: positionOf(query),
    resultsMax: resultsMaxOf(query),
    uncommitted: includes.has("uncommittedblobs"),
  });
  const parts = [
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", call.endpoint)}`,
    `${attribute("ContainerName", call.container)}>`,
    echoed(query, "prefix", "Prefix"),
    echoed(query, "marker", "Marker"),
    echoed(query, "maxresults", "MaxResults"),
    echoed(query, "delimiter", "Delimiter"),
    "<Blobs>",
  ];
  const withMetadata = includes.has("metadata");
  for (const item of items) parts.push(itemElement(item, withMetadata));
  const marker = next === null ? "" : markerText(next);
  parts.push(`</Blobs>${element("NextMarker", marker)}</EnumerationResults>`);
  return { status: 200, headers: [...XML_CONTENT], body: parts.join("") };
}

function positionOf(query: Query): ListPosition | null {
  const marker = markerOf(query, ["n", "p"]);
  if (marker === null) return null;
  return { behind: marker.kind === "p" ? "prefix" : "name", text: marker.text };
}

function markerText(next: ListPosition): string {
  return writeMarker({ kind: next.behind === "prefix" ? "p" : "n", text: next.text });
}

function itemElement(item: ListedItem, withMetadata: boolean): string {
  const name = nameElement("Name", item.name);
  if (item.kind === "prefix") return `<BlobPrefix>${name}</BlobPrefix>`;
  if (item.found === null) return `<Blob>${name}${UNCOMMITTED}</Blob>`;
  const { blob, lease } = item.found;
  const { properties } = blob;
  const modified = rfc1123(blob.modifiedMs);
  // Blobs that were never changed, the most of them, have both times in one second.
  const created = rfc1123(blob.createdMs);
  const metadata = withMetadata ? metadataElement(blob.metadata) : "";
  return (
    `<Blob>${name}<Properties><Creation-Time>${created}</Creation-Time>` +
    `<Last-Modified>${modified}</Last-Modified><Etag>${etagOf(blob.etag)}</Etag>` +
    `<Content-Length>${blob.content.length}</Content-Length>` +
    element("Content-Type", properties.contentType) +
    element("Content-Encoding", properties.contentEncoding) +
    element("Content-Language", properties.contentLanguage) +
    `<Content-CRC64 />${element("Content-MD5", properties.contentMd5?.toString("base64") ?? "")}` +
    element("Cache-Control", properties.cacheControl) +
    element("Content-Disposition", properties.contentDisposition) +
    `<BlobType>${blob.type}</BlobType>${TIER}${leaseElements(lease)}` +
    `<ServerEncrypted>true</ServerEncrypted></Properties>${metadata}<OrMetadata /></Blob>`
  );
}

const TIER = "<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>";

/** Nothing is known of such a blob but that somebody began it. */
const UNCOMMITTED =
  "<Properties><Content-Length>0</Content-Length><BlobType>BlockBlob</BlobType>" +
  "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>" +
  "<ServerEncrypted>true</ServerEncrypted></Properties>";
