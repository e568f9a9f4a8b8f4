import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { Item, RemovalItem, ShareItem, ShareSnapshotItem } from "./item.ts";
import { childAt, listAll, nameAt, pairsAt, policiesAt, textAt } from "./listed.ts";
import type { RestClient } from "./rest-client.ts";
import { type ListedPath, ShareTree } from "./share-tree.ts";

const GET = { service: "file", method: "GET" } as const;

export async function* readShares(client: RestClient): AsyncGenerator<ShareItem> {
  const query = { comp: "list", include: "metadata" };
  for await (const found of listAll(client, { ...GET, path: "", query }, ["Shares", "Share"])) {
    const name = nameAt(found);
    const acl = { ...GET, path: name, query: { restype: "share", comp: "acl" } };
    const tier = textAt(childAt(found, "Properties"), "AccessTier");
    yield {
      kind: "share",
      name,
      metadata: pairsAt(found, "Metadata"),
      policies: await policiesAt(client, acl),
      ...quotaOf(found),
      ...(tier === undefined ? {} : { tier }),
    };
  }
}

function quotaOf(found: XmlElement): Pick<ShareItem, "quotaGib"> {
  const quota = textAt(childAt(found, "Properties"), "Quota");
  return quota === undefined ? {} : { quotaGib: Number(quota) };
}

/** A share with what its snapshots show, oldest first, then what it holds now. */
export async function* readShare(client: RestClient, share: ShareItem): AsyncGenerator<Item> {
  const snapshots = await snapshotsOf(client, share.name);
  if (snapshots.length === 0) {
    yield share;
    yield* new ShareTree(client, share.name, null).items();
    return;
  }
  yield { ...share, snapshots: snapshots.length };
  let before: ReadonlyMap<string, ListedPath> = new Map();
  for (const snapshot of [...snapshots, null]) {
    const tree = new ShareTree(client, share.name, snapshot?.taken ?? null);
    const now = await tree.list();
    yield* removals(share.name, before, now);
    for (const [path, own] of now) {
      const old = before.get(path);
      // No list tells the ETag of the root.
      const isSame = old !== undefined && own.etag !== undefined && old.etag === own.etag;
      if (!isSame) yield await tree.item(path, own);
    }
    if (snapshot !== null) yield snapshot;
    before = now;
  }
}

async function snapshotsOf(client: RestClient, share: string): Promise<ShareSnapshotItem[]> {
  const query = { comp: "list", include: "metadata,snapshots", prefix: share };
  const found: ShareSnapshotItem[] = [];
  for await (const one of listAll(client, { ...GET, path: "", query }, ["Shares", "Share"])) {
    const taken = textAt(one, "Snapshot");
    if (nameAt(one) !== share || taken === undefined) continue;
    const metadata = pairsAt(one, "Metadata");
    found.push({ kind: "shareSnapshot", share, taken, metadata, ...quotaOf(one) });
  }
  return found.toSorted((a, b) => (a.taken < b.taken ? -1 : 1));
}

/** What is gone, or of another kind now; children before what they lie in. */
function* removals(
  share: string,
  before: ReadonlyMap<string, ListedPath>,
  now: ReadonlyMap<string, ListedPath>,
): Generator<RemovalItem> {
  for (const [path, { isDirectory }] of [...before].reverse()) {
    if (now.get(path)?.isDirectory === isDirectory) continue;
    yield { kind: "removal", share, path, isDirectory };
  }
}
