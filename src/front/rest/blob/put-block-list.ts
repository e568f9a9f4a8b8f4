import { requireDigests } from "../../../base/digests.ts";
import { inSlices } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import type { BlockReference } from "../../../service/blob/block-plan.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { putBlockList } from "../../../service/blob/put-block-list.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { digestsOf, metadataOf } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { parseXmlInSteps, type XmlElement } from "../xml/parse-xml.ts";
import { digestsOfWhole } from "../xml-body.ts";
import { requireRoot } from "../xml-nodes.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { digestsOfBody } from "./computed-digests.ts";
import { propertiesOfList } from "./properties.ts";
import { tierOf } from "./tier-headers.ts";
import { requireSupportedOnCreation } from "./unsupported.ts";

/** Enough for 50,000 of the longest ids, each on its own line. */
const BODY_BYTES_MAX = 8 * MIB;

export async function handlePutBlockList(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireSupportedOnCreation(call.request);
  const key = keyOf(call.request);
  const { at, access, leaseId, conditions } = blobUseOf(call);
  const metadata = metadataOf(headers);
  const tags = tagsOf(headers);
  const tier = tierOf(call);
  const properties = propertiesOfList(headers);
  const wanted = digestsOf(headers);
  const body = await readWholeBody(call.request, BODY_BYTES_MAX);
  // The digests are those of the XML, not of the blob.
  const digests = await digestsOfWhole(body, digestsOfBody(call.version, wanted));
  requireDigests(wanted, digests);
  const version = await putBlockList(context, {
    at,
    access,
    leaseId,
    conditions,
    key,
    metadata,
    tags,
    tier,
    properties,
    blocks: blocksOf(await inSlices(parseXmlInSteps(body))),
  });
  return {
    status: 201,
    headers: [...writtenHeaders(version), ...digestHeaders(digests), ...encryptedHeaders(key)],
    body: null,
  };
}

const LISTS: ReadonlyMap<string, BlockReference["from"]> = new Map([
  ["Committed", "committed"],
  ["Uncommitted", "uncommitted"],
  ["Latest", "latest"],
]);

function blocksOf(root: XmlElement): BlockReference[] {
  return requireRoot(root, "BlockList").children.map((child) => {
    const from = LISTS.get(child.name);
    if (from === undefined) throw new Fault("UnsupportedXmlNode", { XmlNodeName: child.name });
    return { id: child.text.trim(), from };
  });
}
