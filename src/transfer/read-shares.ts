import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { Item, RemovalItem, ShareItem, ShareSnapshotItem } from "./item.ts";
import { type OnLeftOut, readOrLeaveOut } from "./left-out.ts";
import {
  childAt,
  deletableAt,
  listAll,
  metadataIn,
  nameAt,
  pairsAt,
  policiesAt,
  textAt,
  versionedAt,
  versionedIn,
} from "./listed.ts";
import { versionOf, versionQuery } from "./past.ts";
import type { RestClient } from "./rest-client.ts";
import { type ListedPath, ShareTree } from "./share-tree.ts";

const GET = { service: "file", method: "GET" } as const;

/** The shares, and those of a server of ours that were deleted and can be restored. */
export async function* readShares(
  client: RestClient,
  onLeftOut: OnLeftOut,
): AsyncGenerator<ShareItem> {
  const isOurs = await client.isOurs("file");
  const query = { comp: "list", include: isOurs ? "metadata,deleted" : "metadata" };
  for await (const found of listAll(client, { ...GET, path: "", query }, ["Shares", "Share"])) {
    const name = nameAt(found);
    const deletable = deletableAt(found);
    const of = { restype: "share", comp: "acl", ...versionQuery(deletable) };
    const acl = { ...GET, path: name, query: of };
    const properties = childAt(found, "Properties");
    const tier = textAt(properties, "AccessTier");
    const tierChanged = textAt(properties, "AccessTierChangeTime");
    const policies = await readOrLeaveOut(`share ${name}`, onLeftOut, () =>
      policiesAt(client, acl),
    );
    if (policies === null) continue;
    yield {
      kind: "share",
      name,
      ...deletable,
      ...versionedAt(found),
      metadata: pairsAt(found, "Metadata"),
      policies,
      ...quotaOf(found),
      ...(tier === undefined ? {} : { tier }),
      ...(tierChanged === undefined ? {} : { tierChanged }),
    };
  }
}

function quotaOf(found: XmlElement): Pick<ShareItem, "quotaGib"> {
  const quota = textAt(childAt(found, "Properties"), "Quota");
  return quota === undefined ? {} : { quotaGib: Number(quota) };
}

/** A share with what its snapshots show, oldest first, then what it holds now. */
export async function* readShare(
  client: RestClient,
  share: ShareItem,
  onLeftOut: OnLeftOut,
): AsyncGenerator<Item> {
  const snapshots = await snapshotsOf(client, share);
  if (snapshots.length === 0) {
    yield share;
    yield* new ShareTree(client, share, null, onLeftOut).items();
    return;
  }
  yield { ...share, snapshots: snapshots.length };
  let before: ReadonlyMap<string, ListedPath> = new Map();
  for (const snapshot of [...snapshots, null]) {
    const tree = new ShareTree(client, share, snapshot?.taken ?? null, onLeftOut);
    const now = await tree.list();
    yield* removals(share, before, now);
    for (const [path, own] of now) {
      const old = before.get(path);
      // No list tells the ETag of the root.
      const isSame = old !== undefined && own.etag !== undefined && old.etag === own.etag;
      const item = isSame ? null : await tree.item(path, own);
      if (item !== null) yield item;
    }
    if (snapshot !== null) yield snapshot;
    before = now;
  }
}

/** Oldest first. */
async function snapshotsOf(client: RestClient, share: ShareItem): Promise<ShareSnapshotItem[]> {
  const found = share.version === undefined ? listedOf(client, share) : readOf(client, share);
  const all: ShareSnapshotItem[] = [];
  for await (const one of found) all.push(one);
  return all.toSorted((a, b) => (a.taken < b.taken ? -1 : 1));
}

async function* listedOf(
  client: RestClient,
  { name: share }: ShareItem,
): AsyncGenerator<ShareSnapshotItem> {
  const query = { comp: "list", include: "metadata,snapshots", prefix: share };
  for await (const one of listAll(client, { ...GET, path: "", query }, ["Shares", "Share"])) {
    const taken = textAt(one, "Snapshot");
    if (nameAt(one) !== share || taken === undefined) continue;
    const metadata = pairsAt(one, "Metadata");
    yield {
      kind: "shareSnapshot",
      share,
      taken,
      ...versionedAt(one),
      metadata,
      ...quotaOf(one),
    };
  }
}

/** No list of the service has the snapshots of a deleted share. */
async function* readOf(client: RestClient, share: ShareItem): AsyncGenerator<ShareSnapshotItem> {
  const of = { restype: "share", ...versionQuery(share) };
  const at = { ...GET, path: share.name } as const;
  const root = await client.xml({ ...at, query: { ...of, comp: "lazuli-snapshots" } });
  for (const { text: taken } of root.children) {
    const answer = await client.request({ ...at, query: { ...of, sharesnapshot: taken } });
    const quota = answer.header("x-ms-share-quota");
    yield {
      kind: "shareSnapshot",
      share: share.name,
      ...versionOf(share),
      taken,
      ...versionedIn(answer),
      metadata: metadataIn(answer.raw),
      ...(quota === undefined ? {} : { quotaGib: Number(quota) }),
    };
  }
}

/** What is gone, or of another kind now; children before what they lie in. */
function* removals(
  share: ShareItem,
  before: ReadonlyMap<string, ListedPath>,
  now: ReadonlyMap<string, ListedPath>,
): Generator<RemovalItem> {
  for (const [path, { isDirectory }] of [...before].reverse()) {
    if (now.get(path)?.isDirectory === isDirectory) continue;
    yield { kind: "removal", share: share.name, ...versionOf(share), path, isDirectory };
  }
}
