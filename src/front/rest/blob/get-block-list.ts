import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlockList } from "../../../service/blob/get-block-list.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { element, XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { requireNoKey } from "./unsupported.ts";

export async function handleGetBlockList(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { query } = call.request;
  requireNoKey(call.request);
  const type = typeOf(query);
  const lists = await getBlockList(context, {
    ...blobReadOf(call),
    withAppended: query.get("lazuli-blocks") === "true",
  });
  const { old } = lists.seen;
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(`${XML_DECLARATION}<BlockList><CommittedBlocks>`);
  if (type !== "uncommitted") {
    await xml.addAll(lists.committed, ({ name, length }) => block(name, length));
  }
  xml.add("</CommittedBlocks><UncommittedBlocks>");
  if (type !== "committed") {
    await xml.addAll(lists.uncommitted, ({ id, content }) => block(id, content.length));
  }
  xml.add("</UncommittedBlocks></BlockList>");
  return {
    status: 200,
    headers: [
      ...XML_CONTENT,
      // Uncommitted blocks have no version.
      ...(old === null ? [] : versionHeaders(old)),
      "x-ms-blob-content-length",
      String(old?.content.length ?? 0),
    ],
    body: xml.done(),
  };
}

function block(name: string, length: number): string {
  return `<Block>${element("Name", name)}${element("Size", String(length))}</Block>`;
}

function typeOf(query: Query): "committed" | "uncommitted" | "all" {
  const value = query.get("blocklisttype") ?? "committed";
  const type = value.toLowerCase();
  if (type === "committed" || type === "uncommitted" || type === "all") return type;
  throw invalidQuery("blocklisttype", value, "It must be committed, uncommitted or all.");
}
