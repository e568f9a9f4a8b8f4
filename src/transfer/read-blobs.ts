import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import { readControl } from "./access-control.ts";
import { RestRefusal } from "./answer.ts";
import { fetchTogether } from "./fetch-together.ts";
import type { BlobItem, ContainerItem, StagedBlock } from "./item.ts";
import { type OnLeftOut, readOrLeaveOut } from "./left-out.ts";
import {
  childAt,
  deletableAt,
  listAll,
  nameAt,
  pairsAt,
  policiesAt,
  textAt,
  versionedAt,
} from "./listed.ts";
import { versionOf, versionQuery } from "./past.ts";
import { RevisionReader } from "./read-revisions.ts";
import { remoteBody } from "./remote-body.ts";
import type { Headers, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

const GET = { service: "blob", method: "GET" } as const;
/** Few enough that a page with metadata and tags is not too long for the parser. */
const PAGE_BLOBS = "500";
/** What only a server of ours lets an export read whole. */
const OURS = "versions,deleted,uncommittedblobs,lazuli-blocks,lazuli-past,permissions";

const DELETED_PATH =
  "It was deleted, and a deleted path of a container with directories is not moved. Restore it in " +
  "the source first, or do without it.";
const NO_TAGS = "The SAS does not permit to read tags. Use one with the permission t, or the key.";

/** The containers, and those of a server of ours that were deleted and can be restored. */
export async function* readContainers(
  client: RestClient,
  onLeftOut: OnLeftOut,
): AsyncGenerator<ContainerItem> {
  const isOurs = await client.isOurs("blob");
  const query = { comp: "list", include: isOurs ? "metadata,deleted" : "metadata" };
  const path = ["Containers", "Container"];
  for await (const found of listAll(client, { ...GET, path: "", query }, path)) {
    const name = nameAt(found);
    const deletable = deletableAt(found);
    const of = { restype: "container", comp: "acl", ...versionQuery(deletable) };
    const acl = { ...GET, path: name, query: of };
    const access = textAt(childAt(found, "Properties"), "PublicAccess");
    const container = await readOrLeaveOut(`container ${name}`, onLeftOut, async () => ({
      kind: "container" as const,
      name,
      ...deletable,
      ...versionedAt(found),
      metadata: pairsAt(found, "Metadata"),
      ...publicAccessOf(access),
      policies: await policiesAt(client, acl),
      ...(isOurs ? await rootOf(client, name, versionQuery(deletable)) : {}),
    }));
    if (container !== null) yield container;
  }
}

function publicAccessOf(access: string | undefined): Pick<ContainerItem, "publicAccess"> {
  return access === "blob" || access === "container" ? { publicAccess: access } : {};
}

/** The root directory of a container; nothing for a flat one. */
async function rootOf(
  client: RestClient,
  name: string,
  of: Headers,
): Promise<Pick<ContainerItem, "control">> {
  const query = { resource: "filesystem", ...of };
  const answer = await client.request({ ...GET, method: "HEAD", path: name, query });
  if (answer.header("x-ms-namespace-enabled") !== "true") return {};
  return { control: await readControl(client, `${name}/`, of) };
}

/** The blobs of a container, each with its other revisions and uncommitted blocks. */
export async function* readBlobs(
  client: RestClient,
  container: Pick<ContainerItem, "name" | "version">,
  onLeftOut: OnLeftOut,
): AsyncGenerator<BlobItem> {
  const isOurs = await client.isOurs("blob");
  const blobs = listedBlobs(client, container, isOurs, onLeftOut);
  const isTogether = isOurs && container.version === undefined;
  yield* isTogether ? fetchTogether(client, container.name, blobs) : blobs;
}

async function* listedBlobs(
  client: RestClient,
  container: Pick<ContainerItem, "name" | "version">,
  isOurs: boolean,
  onLeftOut: OnLeftOut,
): AsyncGenerator<BlobItem> {
  const read = (name: string, group: readonly XmlElement[]) => {
    const path = `${container.name}/${name}`;
    for (const _ of group.filter(isDeletedPath)) {
      onLeftOut(`deleted path ${path}`, new TransferError(DELETED_PATH));
    }
    const listed = group.filter((found) => !isDeletedPath(found));
    if (listed.length === 0) return null;
    return readOrLeaveOut(`blob ${path}`, onLeftOut, () => blobOf(client, container, name, listed));
  };
  let name: string | null = null;
  let group: XmlElement[] = [];
  for await (const found of listBlobs(client, container, isOurs, onLeftOut)) {
    const own = nameAt(found);
    if (own !== name && name !== null) {
      const blob = await read(name, group);
      if (blob !== null) yield blob;
    }
    if (own !== name) group = [];
    name = own;
    group.push(found);
  }
  const last = name === null ? null : await read(name, group);
  if (last !== null) yield last;
}

/** A deleted file or directory has a way of its own to be restored. */
function isDeletedPath(found: XmlElement): boolean {
  return textAt(found, "DeletionId") !== undefined;
}

async function* listBlobs(
  client: RestClient,
  container: Pick<ContainerItem, "name" | "version">,
  isOurs: boolean,
  onLeftOut: OnLeftOut,
): AsyncGenerator<XmlElement> {
  const list = (include: string) => {
    const all = { restype: "container", comp: "list", include, maxresults: PAGE_BLOBS };
    const query = { ...all, ...versionQuery(container) };
    return listAll(client, { ...GET, path: container.name, query }, ["Blobs", "Blob"]);
  };
  let isBegun = false;
  try {
    for await (const found of list(`snapshots,metadata,tags,copy${isOurs ? `,${OURS}` : ""}`)) {
      isBegun = true;
      yield found;
    }
  } catch (error) {
    // A SAS may permit lists and not tags.
    if (isBegun || !(error instanceof RestRefusal) || error.status !== 403) throw error;
    for await (const found of list("snapshots,metadata")) {
      if (textAt(childAt(found, "Properties"), "TagCount") !== undefined) {
        onLeftOut(
          `tags of the blob ${container.name}/${nameAt(found)}`,
          new TransferError(NO_TAGS),
        );
      }
      yield found;
    }
  }
}

async function blobOf(
  client: RestClient,
  holder: Pick<ContainerItem, "name" | "version">,
  name: string,
  listed: readonly XmlElement[],
): Promise<BlobItem> {
  const container = holder.name;
  const path = `${container}/${name}`;
  const of = versionQuery(holder);
  const reader = new RevisionReader(client, path, of);
  // A name with uncommitted blocks only has no ETag.
  const committed = listed.filter((found) => textAt(childAt(found, "Properties"), "Etag"));
  const sorted = committed.toSorted((a, b) => (reader.orderOf(a) < reader.orderOf(b) ? -1 : 1));
  const revisions = [];
  for (const found of sorted) revisions.push(await reader.read(found));
  const staged = committed.length < listed.length ? await stagedBlocks(client, path, of) : [];
  return {
    kind: "blob",
    container,
    ...versionOf(holder),
    name,
    revisions,
    ...(staged.length > 0 ? { staged } : {}),
  };
}

/** Also what Data Lake has appended to a file and not flushed. */
async function stagedBlocks(client: RestClient, path: string, of: Headers): Promise<StagedBlock[]> {
  const query = { comp: "blocklist", blocklisttype: "uncommitted", "lazuli-blocks": "true", ...of };
  const root = await client.xml({ ...GET, path, query });
  return (childAt(root, "UncommittedBlocks")?.children ?? []).map((block) => {
    const id = textAt(block, "Name") ?? "";
    const asked = { ...GET, path, query: { comp: "lazuli-block", blockid: id, ...of } };
    return { id, body: remoteBody(client, asked, Number(textAt(block, "Size"))) };
  });
}
