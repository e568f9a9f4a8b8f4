import { etagOf, isoOfStamp } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { FileContext } from "../../../service/file/context.ts";
import {
  type ListedShare,
  listShares,
  type SharePosition,
} from "../../../service/file/list-shares.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { deletionElements, leaseElements, listStart, metadataElement } from "../list-elements.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { includesOf, invalidQuery, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { element } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import type { FileCall } from "./call.ts";
import { tierElements } from "./share-headers.ts";
import { shareVersionText } from "./share-version.ts";

export async function handleListShares(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const includes = includesOf(query, ["metadata", "snapshots", "deleted"]);
  const pages = listShares(context, {
    account: call.account,
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    after: positionOf(query),
    resultsMax: resultsMaxOf(query),
    snapshots: includes.has("snapshots"),
    deleted: includes.has("deleted"),
  });
  const withMetadata = includes.has("metadata");
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(listStart(call.endpoint, query, "Shares"));
  let next: SharePosition | null = null;
  for await (const page of pages) {
    await xml.addAll(page.shares, (share) => shareElement(share, withMetadata));
    next = page.next;
    if (xml.isFull) break;
  }
  xml.add(
    `</Shares>${element("NextMarker", next === null ? "" : markerText(next))}` +
      "</EnumerationResults>",
  );
  return { status: 200, headers: [...XML_CONTENT], body: xml.done() };
}

const POSITION = /^(.*)\/([012])\/(\d{1,20})$/;

function positionOf(query: Query): SharePosition | null {
  const marker = markerOf(query, ["s"]);
  if (marker === null) return null;
  const [, name = "", kind, stamp] = POSITION.exec(marker.text) ?? [];
  if (stamp === undefined) throw invalidQuery("marker", query.get("marker") ?? "");
  return { name, kind: Number(kind), stamp: BigInt(stamp) };
}

function markerText({ name, kind, stamp }: SharePosition): string {
  return writeMarker({ kind: "s", text: `${name}/${kind}/${stamp}` });
}

function shareElement(listed: ListedShare, withMetadata: boolean): string {
  const { name, revision, snapshot, deleted, lease, tier } = listed;
  const properties = [
    `<Last-Modified>${rfc1123(revision.modifiedMs)}</Last-Modified>`,
    `<Etag>"${etagOf(revision.etag)}"</Etag><Quota>${revision.quotaGib}</Quota>`,
    deleted === null ? leaseElements(lease) : deletionElements(deleted),
    tierElements(tier),
    "<EnabledProtocols>SMB</EnabledProtocols>",
  ];
  return [
    `<Share>${element("Name", name)}`,
    snapshot === null ? "" : `<Snapshot>${isoOfStamp(snapshot)}</Snapshot>`,
    deleted === null ? "" : "<Deleted>true</Deleted>",
    deleted === null ? "" : `<Version>${shareVersionText(listed.stamp)}</Version>`,
    `<Properties>${properties.join("")}</Properties>`,
    `${withMetadata ? metadataElement(revision.metadata) : ""}</Share>`,
  ].join("");
}
