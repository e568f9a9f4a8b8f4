import { BLOB_NAME_CHARS_MAX } from "../../../base/limits.ts";
import { etagOf, isoOfStamp } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { listBlobs } from "../../../service/blob/list-blobs.ts";
import type {
  ListBlobs,
  ListedPrefix,
  ListPosition,
  ShownBlob,
} from "../../../service/blob/listed-blob.ts";
import type { Blob, BlobCopy } from "../../../service/blob/records.ts";
import { shownAccessControl } from "../../../service/blob/shown-access-control.ts";
import { ARROW_TYPE, ArrowStream } from "../arrow/arrow-stream.ts";
import type { HiddenFields } from "../field-versions.ts";
import type { Query, ResponseBody, RestResponse } from "../http/exchange.ts";
import {
  deletionElements,
  echoed,
  leaseElements,
  metadataElement,
  nameElement,
} from "../list-elements.ts";
import { type Marker, markerOf, writeMarker } from "../marker.ts";
import { acceptsType } from "../request-headers.ts";
import { includesOf, invalidQuery, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { attribute, element, XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { columnsOf, rowOf } from "./blob-columns.ts";
import { tagsElement } from "./blob-tags.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { tierElements } from "./tier-headers.ts";

/** Unsupported includes are accepted and return nothing. */
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
  // For exports: with uncommittedblobs, also blocks beside a blob.
  "lazuli-blocks",
  // For exports: what no client sees of a blob.
  "lazuli-past",
];

export async function handleListBlobs(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { query } = call.request;
  const includes = includesOf(query, INCLUDES);
  const delimiter = query.get("delimiter") ?? "";
  if (delimiter !== "" && includes.has("snapshots")) {
    throw invalidQuery("include", query.get("include") ?? "", "Snapshots exclude a delimiter.");
  }
  const asked: ListBlobs = {
    at: addressOf(call),
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    delimiter,
    startFrom: nameFromQuery(query, "startfrom"),
    endBefore: call.version < ARROW_SINCE ? "" : nameFromQuery(query, "endbefore"),
    after: positionOf(query),
    resultsMax: resultsMaxOf(query),
    kinds: {
      uncommitted: includes.has("uncommittedblobs"),
      besides: includes.has("lazuli-blocks"),
      snapshots: includes.has("snapshots"),
      versions: includes.has("versions"),
      deleted: includes.has("deleted"),
      versionsOnly: includes.has("deletedwithversions"),
      deletedOnly: showsDeletedOnly(query),
    },
    tags: includes.has("tags"),
  };
  if (call.version >= ARROW_SINCE && acceptsType(call.request.headers, ARROW_TYPE)) {
    const body = await listArrow(context, call, asked, includes);
    return { status: 200, headers: ["Content-Type", ARROW_TYPE], body };
  }
  const body = await listXml(context, call, asked, includes);
  return { status: 200, headers: [...XML_CONTENT], body };
}

/** Whether a client of Data Lake lists what can be restored. */
function showsDeletedOnly(query: Query): boolean {
  const value = query.get("showonly") ?? "";
  const words = value.toLowerCase().split(",");
  if (words.every((word) => word === "" || word === "deleted")) return words.includes("deleted");
  throw invalidQuery("showonly", value, "It must be deleted.");
}

/** Since then lists support the Apache Arrow format and `endbefore`. */
const ARROW_SINCE = "2026-10-06";

async function listArrow(
  context: BlobContext,
  { request }: BlobCall,
  asked: ListBlobs,
  includes: ReadonlySet<string>,
): Promise<ResponseBody> {
  const stream = new ArrowStream(columnsOf(includes));
  let next: ListPosition | null = null;
  for await (const page of listBlobs(context, asked)) {
    stream.add(page.items.map(rowOf));
    await request.rendering?.grownTo(stream.bytes);
    next = page.next;
    if (stream.isFull) break;
  }
  const marker = next === null ? "" : markerText(next);
  return stream.done([
    ["NextMarker", marker],
    ["NumberOfRecords", String(stream.rows)],
  ]);
}

async function listXml(
  context: BlobContext,
  call: BlobCall,
  asked: ListBlobs,
  includes: ReadonlySet<string>,
): Promise<ResponseBody> {
  const { query } = call.request;
  const render = rendererOf(includes, call.hidden);
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", call.endpoint)}` +
      `${attribute("ContainerName", call.route.container)}>` +
      echoed(query, "prefix", "Prefix") +
      echoed(query, "marker", "Marker") +
      echoed(query, "maxresults", "MaxResults") +
      `${echoed(query, "delimiter", "Delimiter")}<Blobs>`,
  );
  let next: ListPosition | null = null;
  for await (const page of listBlobs(context, asked)) {
    for (const item of page.items) {
      if (item.kind === "blob") xml.addBytes(item.text(render));
      else xml.add(prefixElement(item));
      const wait = xml.next();
      if (wait !== undefined) await wait;
    }
    next = page.next;
    if (xml.isFull) break;
  }
  const marker = next === null ? "" : markerText(next);
  xml.add(`</Blobs>${element("NextMarker", marker)}</EnumerationResults>`);
  return xml.done();
}

function positionOf(query: Query): ListPosition | null {
  const marker = markerOf(query, ["n", "p", "s"]);
  if (marker === null) return null;
  const position = positionOfMarker(marker);
  if (position !== null && position.text.length <= BLOB_NAME_CHARS_MAX) return position;
  throw invalidQuery("marker", query.get("marker") ?? "");
}

/** The position of a revision: its stamp, then the name. */
const REVISION_POSITION = /^(\d{1,20}):(.*)$/su;
const STAMP_MAX = 2n ** 64n - 1n;

function positionOfMarker({ kind, text }: Marker<"n" | "p" | "s">): ListPosition | null {
  if (kind !== "s") return { behind: kind === "p" ? "prefix" : "name", text };
  const [, stamp = "", name = ""] = REVISION_POSITION.exec(text) ?? [];
  if (stamp === "" || BigInt(stamp) > STAMP_MAX) return null;
  return { behind: "revision", text: name, stamp: BigInt(stamp) };
}

function markerText(next: ListPosition): string {
  if (next.behind === "revision")
    return writeMarker({ kind: "s", text: `${next.stamp}:${next.text}` });
  return writeMarker({ kind: next.behind === "prefix" ? "p" : "n", text: next.text });
}

/** Parts of a blob element that are optional, as bits. */
const METADATA = 1;
const TAGS = 2;
const COPY = 4;
const PERMISSIONS = 8;
const PAST = 16;
/** How many choices of parts there are. */
const CHOICES = 32;

type Renderer = (shown: ShownBlob) => string;

/** One renderer for each set of hidden fields and choice of parts: cached texts belong to it. */
const RENDERERS = new Map<HiddenFields | null, readonly Renderer[]>();

function rendererOf(includes: ReadonlySet<string>, hidden: HiddenFields | null): Renderer {
  const part = (name: string, value: number) => (includes.has(name) ? value : 0);
  const parts =
    part("metadata", METADATA) |
    part("tags", TAGS) |
    part("copy", COPY) |
    part("permissions", PERMISSIONS) |
    part("lazuli-past", PAST);
  let renderers = RENDERERS.get(hidden);
  if (renderers === undefined) {
    renderers = renderersWithout(hidden);
    RENDERERS.set(hidden, renderers);
  }
  return renderers[parts] as Renderer;
}

/** Creates a renderer for each choice of parts. */
function renderersWithout(hidden: HiddenFields | null): Renderer[] {
  return Array.from({ length: CHOICES }, (_, parts): Renderer => {
    if (hidden === null) return (shown) => blobElement(shown, parts);
    return (shown) => hidden.xmlWithout(blobElement(shown, parts));
  });
}

/** A prefix in a hierarchical container is a directory, which has properties. */
function prefixElement({ name, blob: item }: ListedPrefix): string {
  const blob = item?.shown().blob ?? null;
  const properties =
    blob === null
      ? ""
      : `<Properties><Creation-Time>${rfc1123(blob.createdMs)}</Creation-Time>` +
        `<Last-Modified>${rfc1123(blob.modifiedMs)}</Last-Modified>` +
        `<Etag>${etagOf(blob.etag)}</Etag>${resourceTypeElement(blob)}</Properties>`;
  return `<BlobPrefix>${nameElement("Name", name)}${properties}</BlobPrefix>`;
}

/** Only files and directories of hierarchical containers have them. */
function permissionElements({ path }: Blob): string {
  if (path === null) return "";
  const { owner, group, permissions, acl } = shownAccessControl(path.control);
  return (
    element("Owner", owner) +
    element("Group", group) +
    element("Permissions", permissions) +
    element("Acl", acl)
  );
}

function resourceTypeElement({ path }: Blob): string {
  if (path === null) return "";
  return `<ResourceType>${path.directoryId === 0n ? "file" : "directory"}</ResourceType>`;
}

function blobElement(shown: ShownBlob, parts: number): string {
  const { blob, lease, deleted, tier } = shown;
  const name = nameElement("Name", shown.name);
  if (blob === null) return `<Blob>${name}${UNCOMMITTED}</Blob>`;
  const { properties } = blob;
  const metadata = (parts & METADATA) !== 0 ? metadataOfBlob(blob) : "";
  const tags = (parts & TAGS) !== 0 && blob.tags.length > 0 ? tagsElement(blob.tags) : "";
  const tagCount = blob.tags.length > 0 ? `<TagCount>${blob.tags.length}</TagCount>` : "";
  return (
    `<Blob>${name}${revisionElements(shown, blob)}<Properties>` +
    `<Creation-Time>${rfc1123(blob.createdMs)}</Creation-Time>` +
    `<Last-Modified>${rfc1123(blob.modifiedMs)}</Last-Modified><Etag>${etagOf(blob.etag)}</Etag>` +
    `<Content-Length>${blob.content.length}</Content-Length>` +
    element("Content-Type", properties.contentType) +
    element("Content-Encoding", properties.contentEncoding) +
    element("Content-Language", properties.contentLanguage) +
    `<Content-CRC64 />${element("Content-MD5", properties.contentMd5?.toString("base64") ?? "")}` +
    element("Cache-Control", properties.cacheControl) +
    element("Content-Disposition", properties.contentDisposition) +
    `${typeElements(blob)}${tier === null ? "" : tierElements(tier)}` +
    `${lease === null ? "" : leaseElements(lease)}` +
    `${deleted === null ? "" : deletionElements(deleted)}` +
    ((parts & COPY) !== 0 && blob.copy !== null ? copyElements(blob.copy) : "") +
    `<ServerEncrypted>true</ServerEncrypted>${keyElement(blob)}${tagCount}` +
    ((parts & PERMISSIONS) !== 0 ? permissionElements(blob) : "") +
    ((parts & PAST) !== 0 ? pastElement(blob) : "") +
    `${resourceTypeElement(blob)}</Properties>` +
    `${metadata}${tags}` +
    `<OrMetadata />${shown.hasVersionsOnly ? "<HasVersionsOnly>true</HasVersionsOnly>" : ""}</Blob>`
  );
}

/** Times to the millisecond, and what Data Lake knows of a file, as the header `PAST` has them. */
function pastElement({ createdMs, modifiedMs, isDataLake, terms, tier }: Blob): string {
  const past = {
    created: new Date(createdMs).toISOString(),
    modified: new Date(modifiedMs).toISOString(),
    ...(tier === null ? {} : { tierChanged: new Date(tier.changedMs).toISOString() }),
    ...(isDataLake ? { dataLake: true } : {}),
    ...(terms === null || terms.encryptionContext === ""
      ? {}
      : { encryptionContext: terms.encryptionContext }),
  };
  return element("LazuliPast", JSON.stringify(past));
}

/** A list request carries no key, so encrypted metadata is only mentioned. */
function metadataOfBlob({ metadata, encryption }: Blob): string {
  return encryption === null ? metadataElement(metadata) : '<Metadata Encrypted="true" />';
}

function keyElement({ encryption }: Blob): string {
  if (encryption === null) return "";
  return element("CustomerProvidedKeySha256", encryption.keySha256.toString("base64"));
}

/** The elements that distinguish revisions of the same name. */
function revisionElements(shown: ShownBlob, { versionId }: Blob): string {
  const { revision, deleted, deletionId } = shown;
  const which = deletionId === null ? "" : `<DeletionId>${deletionId}</DeletionId>`;
  const gone = deleted === null ? "" : `<Deleted>true</Deleted>${which}`;
  if (revision?.kind === "snapshot") {
    return `${gone}<Snapshot>${isoOfStamp(revision.stamp)}</Snapshot>`;
  }
  if (versionId === 0n) return gone;
  const current = revision === null && deleted === null ? CURRENT_VERSION : "";
  return `${gone}<VersionId>${isoOfStamp(versionId)}</VersionId>${current}`;
}

const CURRENT_VERSION = "<IsCurrentVersion>true</IsCurrentVersion>";

function typeElements({ type, sequenceNumber, isSealed }: Blob): string {
  const number = `<x-ms-blob-sequence-number>${sequenceNumber}</x-ms-blob-sequence-number>`;
  const before = type === "PageBlob" ? number : "";
  return `${before}<BlobType>${type}</BlobType>${isSealed ? "<Sealed>true</Sealed>" : ""}`;
}

function copyElements(copy: BlobCopy): string {
  const { id, source, status, bytesDone, bytesTotal, completedMs, description } = copy;
  const progress = `${bytesDone}/${bytesTotal}`;
  return (
    element("CopyId", id) +
    element("CopySource", source) +
    element("CopyStatus", status) +
    element("CopyProgress", progress) +
    (completedMs === null ? "" : element("CopyCompletionTime", rfc1123(completedMs))) +
    (description === "" ? "" : element("CopyStatusDescription", description)) +
    (copy.isIncremental
      ? `<IncrementalCopy>true</IncrementalCopy>${element("DestinationSnapshot", isoOfStamp(copy.snapshot))}`
      : "")
  );
}

/** The fixed properties of a blob with uncommitted blocks only. */
const UNCOMMITTED =
  "<Properties><Content-Length>0</Content-Length><BlobType>BlockBlob</BlobType>" +
  "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>" +
  "<ServerEncrypted>true</ServerEncrypted></Properties>";
