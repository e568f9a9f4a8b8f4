import { MIB } from "../base/limits.ts";
import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { BlobItem, BlobRevision, ContainerItem, ContentHeaders, Range } from "./item.ts";
import { childAt, listAll, nameAt, pairsAt, policiesAt, textAt } from "./listed.ts";
import { remoteBody } from "./remote-body.ts";
import { type RestClient, RestRefusal } from "./rest-client.ts";

const GET = { service: "blob", method: "GET" } as const;
/** Few enough that a page with metadata and tags is not too long for the parser. */
const PAGE_BLOBS = "500";
/** Blobs that have a digest and are shorter were put whole: nobody asks for their blocks. */
const PUT_WHOLE_BYTES = MIB;

export async function* readContainers(client: RestClient): AsyncGenerator<ContainerItem> {
  const query = { comp: "list", include: "metadata" };
  const path = ["Containers", "Container"];
  for await (const found of listAll(client, { ...GET, path: "", query }, path)) {
    const name = nameAt(found);
    const acl = { ...GET, path: name, query: { restype: "container", comp: "acl" } };
    const access = textAt(childAt(found, "Properties"), "PublicAccess");
    yield {
      kind: "container",
      name,
      metadata: pairsAt(found, "Metadata"),
      ...(access === "blob" || access === "container" ? { publicAccess: access } : {}),
      policies: await policiesAt(client, acl),
    };
  }
}

/** The blobs of a container, each with its snapshots. */
export async function* readBlobs(client: RestClient, container: string): AsyncGenerator<BlobItem> {
  let name: string | null = null;
  let group: XmlElement[] = [];
  for await (const found of listBlobs(client, container)) {
    const own = nameAt(found);
    if (own !== name && name !== null) yield await blobOf(client, container, name, group);
    if (own !== name) group = [];
    name = own;
    group.push(found);
  }
  if (name !== null) yield await blobOf(client, container, name, group);
}

async function* listBlobs(client: RestClient, container: string): AsyncGenerator<XmlElement> {
  const list = (include: string) => {
    const query = { restype: "container", comp: "list", include, maxresults: PAGE_BLOBS };
    return listAll(client, { ...GET, path: container, query }, ["Blobs", "Blob"]);
  };
  let isBegun = false;
  try {
    for await (const found of list("snapshots,metadata,tags")) {
      isBegun = true;
      yield found;
    }
  } catch (error) {
    // A SAS may permit lists and not tags.
    if (isBegun || !(error instanceof RestRefusal) || error.status !== 403) throw error;
    yield* list("snapshots,metadata");
  }
}

async function blobOf(
  client: RestClient,
  container: string,
  name: string,
  group: readonly XmlElement[],
): Promise<BlobItem> {
  const sorted = group.toSorted((a, b) => (snapshotOf(a) < snapshotOf(b) ? -1 : 1));
  const revisions: BlobRevision[] = [];
  for (const found of sorted)
    revisions.push(await revisionOf(client, `${container}/${name}`, found));
  return { kind: "blob", container, name, revisions };
}

/** Behind all times for the blob itself. */
function snapshotOf(found: XmlElement): string {
  return textAt(found, "Snapshot") ?? "~";
}

async function revisionOf(
  client: RestClient,
  path: string,
  found: XmlElement,
): Promise<BlobRevision> {
  const properties = childAt(found, "Properties");
  const text = (name: string) => textAt(properties, name);
  const type = text("BlobType") as BlobRevision["type"];
  const bytes = Number(text("Content-Length") ?? "0");
  const snapshot = textAt(found, "Snapshot");
  const query = snapshot === undefined ? {} : { snapshot };
  const etag = text("Etag");
  // A blob that changes meanwhile is refused, so that bytes and properties fit together.
  const headers = etag === undefined ? {} : { "If-Match": quoted(etag) };
  const tier = text("AccessTierInferred") === "true" ? undefined : text("AccessTier");
  const content = contentOf(text);
  const tags = childAt(childAt(found, "Tags") ?? found, "TagSet")?.children ?? [];
  const asked = { ...GET, path, query, headers };
  const hasBlocks = content.contentMd5 === undefined || bytes > PUT_WHOLE_BYTES;
  return {
    ...(snapshot === undefined ? {} : { snapshot }),
    type,
    ...content,
    metadata: pairsAt(found, "Metadata"),
    tags: tags.map((tag) => [textAt(tag, "Key") ?? "", textAt(tag, "Value") ?? ""]),
    ...(type === "BlockBlob" && tier !== undefined ? { tier } : {}),
    ...(type === "PageBlob"
      ? {
          sequenceNumber: text("x-ms-blob-sequence-number") ?? "0",
          ranges: await pagesOf(client, path, query),
        }
      : {}),
    ...(text("Sealed") === "true" ? { sealed: true } : {}),
    ...(type === "BlockBlob" && hasBlocks ? await blocksOf(client, path, query) : {}),
    ...given("created", text("Creation-Time")),
    ...given("modified", text("Last-Modified")),
    ...given("etag", etag),
    body: remoteBody(client, asked, bytes),
  };
}

function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

function given(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

function contentOf(text: (name: string) => string | undefined): ContentHeaders {
  return {
    ...given("contentType", text("Content-Type")),
    ...given("contentEncoding", text("Content-Encoding")),
    ...given("contentLanguage", text("Content-Language")),
    ...given("contentDisposition", text("Content-Disposition")),
    ...given("cacheControl", text("Cache-Control")),
    ...given("contentMd5", text("Content-MD5")),
  };
}

type Query = Readonly<Record<string, string>>;

async function blocksOf(
  client: RestClient,
  path: string,
  at: Query,
): Promise<Pick<BlobRevision, "blocks">> {
  const query = { comp: "blocklist", blocklisttype: "committed", ...at };
  const root = await client.xml({ ...GET, path, query });
  const blocks = (childAt(root, "CommittedBlocks")?.children ?? []).map((block) => ({
    id: textAt(block, "Name") ?? "",
    bytes: Number(textAt(block, "Size")),
  }));
  return blocks.length === 0 ? {} : { blocks };
}

async function pagesOf(client: RestClient, path: string, at: Query): Promise<Range[]> {
  const root = await client.xml({ ...GET, path, query: { comp: "pagelist", ...at } });
  return rangesIn(root, "PageRange");
}

/** Ranges as the services list them, without those that are clear. */
export function rangesIn(root: XmlElement, name: string): Range[] {
  return root.children
    .filter((child) => child.name === name)
    .map((range) => [Number(textAt(range, "Start")), Number(textAt(range, "End")) + 1]);
}
