import type { QueueContext } from "../../../service/queue/context.ts";
import { type ListedQueue, listQueues } from "../../../service/queue/list-queues.ts";
import type { RestResponse } from "../http/exchange.ts";
import { listStart, metadataElement } from "../list-elements.ts";
import { markerOf, writeMarker } from "../marker.ts";
import { includesOf, nameFromQuery, resultsMaxOf } from "../request-query.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { element } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import type { QueueCall } from "./call.ts";

export async function handleListQueues(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const withMetadata = includesOf(query, ["metadata"]).has("metadata");
  const pages = listQueues(context, {
    account: call.account,
    access: call.access,
    prefix: nameFromQuery(query, "prefix"),
    after: markerOf(query, ["n"], "InvalidMarker")?.text ?? "",
    resultsMax: resultsMaxOf(query),
  });
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(listStart(call.endpoint, query, "Queues"));
  let marker = "";
  for await (const { queues, next } of pages) {
    await xml.addAll(queues, (queue) => queueElement(queue, withMetadata));
    marker = next === null ? "" : writeMarker({ kind: "n", text: next });
    if (xml.isFull) break;
  }
  xml.add(`</Queues>${element("NextMarker", marker)}</EnumerationResults>`);
  return { status: 200, headers: [...XML_CONTENT], body: xml.done() };
}

function queueElement({ name, queue }: ListedQueue, withMetadata: boolean): string {
  const metadata = withMetadata ? metadataElement(queue.metadata) : "";
  return `<Queue>${element("Name", name)}${metadata}</Queue>`;
}
