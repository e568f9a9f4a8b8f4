import { Fault, refuse } from "../../base/fault.ts";
import { newGuid } from "../../base/ids.ts";
import { judgeOverwrite } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeTargetByConditions } from "../../rules/conditions.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import type { OwnSource } from "../shared/source.ts";
import { admitToBlobName, requireTagConditions } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import type { CopyBlobDone } from "./copy-blob.ts";
import { copyMade, type Target, writeCopy } from "./copy-target.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import type { BlobCopy } from "./records.ts";
import { writeRevision } from "./revision-records.ts";

export interface CopyBlobIncrementally extends BlobUse {
  readonly source: OwnSource;
}

const PLAIN = {
  metadata: null,
  seals: null,
  copiesTags: false,
  tier: null,
  priority: null,
};

/**
 * Updates a copy of a page blob to one of the source's snapshots, and takes a snapshot of the copy.
 * Copy and source share the bytes.
 */
export async function copyBlobIncrementally(
  context: BlobContext,
  asked: CopyBlobIncrementally,
): Promise<CopyBlobDone> {
  const { source } = asked;
  const copyId = newGuid();
  return context.store.transact((tx) => {
    const target = admit(tx, asked);
    const found = source.find(tx);
    if (found.type !== "PageBlob") throw new Fault("InvalidSourceBlobType");
    const { content } = found;
    requireNotRecreated(context, tx, target, content);
    const snapshot = tx.stamp();
    const ended = copyMade(tx, copyId, source.url, content.length);
    const copy = { ...ended, isIncremental: true, snapshot, ...followedBy(asked) };
    context.contents.share(tx, content);
    // The operation takes no tags, so the copy keeps its own.
    const tags = target.old?.tags ?? NO_TAGS;
    const made = { ...asked, ...PLAIN, tags };
    const blob = writeCopy(context, tx, made, target, found, content, copy);
    context.contents.share(tx, content);
    const revision = { ...blob, lease: null, versionId: 0n };
    writeRevision(tx, target.place, { kind: "snapshot", stamp: snapshot }, revision);
    const { etag, modifiedMs, versionId } = blob;
    // The service answers before it copies, so clients expect a pending status.
    return { etag, modifiedMs, versionId, copyId, status: "pending" as const };
  });
}

/** The order of these checks decides which error a client sees. */
function admit(tx: Transaction, asked: CopyBlobIncrementally): Target {
  const target = admitToBlobName(tx, asked, BLOB_NEEDS.copyBlobIncrementally, "PageBlob");
  const { container, old } = target;
  requireFlat(container, "page blobs");
  if (old !== null) refuse(judgeOverwrite(asked.access, container, tx.now()));
  refuse(judgeTargetByConditions(old, asked.conditions));
  requireTagConditions(tx, asked, container, old);
  refuse(judgeWriteByLease(old?.lease ?? null, asked.leaseId, tx.now(), "Blob"));
  const { followed, followedTo } = followedBy(asked);
  if (old === null) return target;
  const last = old.copy;
  if (last?.isIncremental !== true || last.followed !== followed) {
    throw new Fault("IncrementalCopyBlobMismatch");
  }
  if (followedTo < last.followedTo) {
    throw new Fault("IncrementalCopyOfEarlierVersionSnapshotNotAllowed");
  }
  return target;
}

/** Refuses a source that was recreated: its snapshots do not continue those of the old blob. */
function requireNotRecreated(
  { contents }: BlobContext,
  tx: Transaction,
  { old }: Target,
  content: Content,
): void {
  if (old === null) return;
  const changes = contents.maps.changes(tx, content, old.content, 0, content.length, 1);
  if (changes === null) throw new Fault("BlobOverwritten");
}

function followedBy({ source }: CopyBlobIncrementally): Pick<BlobCopy, "followed" | "followedTo"> {
  const { path, snapshot } = source.name;
  if (snapshot === null) throw new Fault("IncrementalCopySourceMustBeSnapshot");
  return { followed: path, followedTo: snapshot };
}
