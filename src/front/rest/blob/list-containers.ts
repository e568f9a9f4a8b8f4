import { etagOf } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import {
  type ContainerPosition,
  type ListedContainer,
  listContainers,
} from "../../../service/blob/list-containers.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { deletionElements, leaseElements, listStart, metadataElement } from "../list-elements.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { includesOf, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { element } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import type { BlobCall } from "./call.ts";
import { deletedVersionOf, deletedVersionText } from "./deleted-version.ts";

const INCLUDES = ["metadata", "deleted", "system"];

export async function handleListContainers(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const includes = includesOf(query, INCLUDES);
  const pages = listContainers(context, {
    account: call.account,
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    after: positionOf(query),
    resultsMax: resultsMaxOf(query),
    deleted: includes.has("deleted"),
    system: includes.has("system"),
  });
  const withMetadata = includes.has("metadata");
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(listStart(call.endpoint, query, "Containers"));
  let next: ContainerPosition | null = null;
  for await (const page of pages) {
    await xml.addAll(page.containers, (container) => containerElement(container, withMetadata));
    next = page.next;
    if (xml.isFull) break;
  }
  xml.add(
    `</Containers>${element("NextMarker", next === null ? "" : markerText(next))}</EnumerationResults>`,
  );
  return { status: 200, headers: [...XML_CONTENT], body: xml.done() };
}

/** A name alone, or the version of a deleted container and its name. */
function markerText({ name, version }: ContainerPosition): string {
  if (version === null) return writeMarker({ kind: "n", text: name });
  return writeMarker({ kind: "d", text: deletedVersionText(version) + name });
}

function positionOf(query: Query): ContainerPosition | null {
  const marker = markerOf(query, ["n", "d"]);
  if (marker === null) return null;
  const { kind, text } = marker;
  if (kind === "n") return { name: text, version: null };
  return { name: text.slice(16), version: deletedVersionOf(text.slice(0, 16)) };
}

function containerElement(listed: ListedContainer, withMetadata: boolean): string {
  const { name, version, container, lease, deleted } = listed;
  const which =
    version === null
      ? ""
      : `<Deleted>true</Deleted>${element("Version", deletedVersionText(version))}`;
  const publicAccess =
    container.publicAccess === "none" ? "" : element("PublicAccess", container.publicAccess);
  return (
    `<Container>${element("Name", name)}${which}<Properties>` +
    `<Last-Modified>${rfc1123(container.modifiedMs)}</Last-Modified>` +
    `<Etag>"${etagOf(container.etag)}"</Etag>${leaseElements(lease)}${publicAccess}` +
    "<DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>" +
    "<DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride>" +
    "<HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold>" +
    "<ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled>" +
    `${deleted === null ? "" : deletionElements(deleted)}` +
    `</Properties>${withMetadata ? metadataElement(container.metadata) : ""}</Container>`
  );
}
