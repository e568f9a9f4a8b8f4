import { Fault } from "../../../base/fault.ts";
import {
  BLOB_NAME_CHARS_MAX,
  DASHED_NAME_CHARS_MAX,
  TAG_VALUE_CHARS_MAX,
} from "../../../base/limits.ts";
import type { TagQuery } from "../../../rules/tag-expression.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import {
  type FindPosition,
  type FoundBlob,
  findBlobsByTags,
} from "../../../service/blob/find-blobs-by-tags.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { echoed, nameElement } from "../list-elements.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { includesOf, invalidQuery, requireFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { attribute, element, XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { tagsElement } from "./blob-tags.ts";
import type { BlobCall } from "./call.ts";
import { parseTagQuery } from "./parse-tag-expression.ts";

/** Searches an account or one container. */
export async function handleFindBlobsByTags(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { query } = call.request;
  // Only current blobs are indexed by their tags.
  includesOf(query, ["none"]);
  const where = requireFromQuery(query, "where");
  const container = call.route.container === "" ? null : call.route.container;
  const asked = {
    account: call.account,
    container,
    access: call.access,
    query: queryOf(where, container),
    from: positionOf(query),
    resultsMax: resultsMaxOf(query),
  };
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(
    `${XML_DECLARATION}<EnumerationResults${attribute("ServiceEndpoint", call.endpoint)}>` +
      echoed(query, "where", "Where") +
      echoed(query, "marker", "Marker") +
      `${echoed(query, "maxresults", "MaxResults")}<Blobs>`,
  );
  let next: FindPosition | null = null;
  for await (const page of findBlobsByTags(context, asked)) {
    await xml.addAll(page.items, foundElement);
    next = page.next;
    if (xml.isFull) break;
  }
  const marker = next === null ? "" : markerText(next);
  xml.add(`</Blobs>${element("NextMarker", marker)}</EnumerationResults>`);
  return { status: 200, headers: [...XML_CONTENT], body: xml.done() };
}

/** If the URL names a container, the query must not. */
function queryOf(where: string, container: string | null): TagQuery {
  const invalid = (sentence: string) => {
    const detail = { QueryParameterName: "where", QueryParameterValue: where };
    return new Fault("InvalidQueryParameterValue", detail, sentence);
  };
  const query = parseTagQuery(where, invalid);
  if (container !== null && query.container !== null) {
    throw invalid("Error parsing query: Cannot have container in both uri and query");
  }
  return query;
}

function foundElement({ container, name, tags }: FoundBlob): string {
  const names = nameElement("Name", name) + element("ContainerName", container);
  return `<Blob>${names}${tagsElement(tags)}</Blob>`;
}

/** Kind, container, value and blob. Containers and values contain no line breaks. */
const POSITION_CHARS_MAX = DASHED_NAME_CHARS_MAX + TAG_VALUE_CHARS_MAX + BLOB_NAME_CHARS_MAX + 3;

function markerText({ container, within }: FindPosition): string {
  if (within === null) return writeMarker({ kind: "c", text: container });
  const { value, blob, isDone } = within;
  return writeMarker({ kind: isDone ? "b" : "a", text: `${container}\n${value}\n${blob}` });
}

function positionOf(query: Query): FindPosition | null {
  const code = "InvalidQueryParameterValue";
  const marker = markerOf(query, ["a", "b", "c"], code, POSITION_CHARS_MAX);
  if (marker === null) return null;
  const [container = "", value = "", ...lines] = marker.text.split("\n");
  const blob = lines.join("\n");
  const isOurs =
    container.length <= DASHED_NAME_CHARS_MAX &&
    value.length <= TAG_VALUE_CHARS_MAX &&
    PRINTABLE.test(value) &&
    blob.length <= BLOB_NAME_CHARS_MAX;
  if (!isOurs) throw invalidQuery("marker", query.get("marker") ?? "");
  if (marker.kind === "c") return { container, within: null };
  return { container, within: { value, blob, isDone: marker.kind === "b" } };
}

/** Tags have no other characters, some of which would make a key too long. */
const PRINTABLE = /^[ -~]*$/;
