import {
  type Blob,
  type BlobRevision,
  type Chosen,
  describe,
  judgeWriteByLease,
  refuse,
  refuseByLeaseId,
  refuseByType,
  refuseWriteByEtag,
  type Step,
  sequenceOf,
  told,
  UNTOLD,
  versionOf,
  wholeSeconds,
  write,
} from "./blob-model.ts";
import type { BlobAsked, CopySnapshotAsked } from "./blob-words.ts";
import { lengthOf } from "./pieces.ts";

type SnapshotAsked = Extract<BlobAsked, { operation: "snapshot" }>;
type GetSnapshotAsked = Extract<BlobAsked, { operation: "get-snapshot" }>;

/** Who has no lease may take a snapshot all the same. The blob stays as it is. */
export function takeSnapshot(state: BlobRevision, asked: SnapshotAsked, chosen: Chosen): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const refused = refuseWriteByEtag(state, asked) ?? refuseByLeaseId(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const snapshot = chosen.snapshot();
  const snapshots = { ...state.snapshots, [snapshot]: { ...blob, lease: null } };
  const { etag, modifiedMs } = blob;
  return {
    state: { ...state, snapshots },
    answer: told({ etag, modifiedMs: wholeSeconds(modifiedMs), snapshot }),
  };
}

export function readSnapshot(state: BlobRevision, asked: GetSnapshotAsked, chosen: Chosen): Step {
  const kept = state.snapshots[asked.snapshot];
  if (kept === undefined) return refuse(state, "404 BlobNotFound");
  const { etag, modifiedMs, ...found } = describe(withEtag(kept, chosen), state.nowMs);
  const { pieces } = kept;
  return { state, answer: told({ etag, modifiedMs, found, pieces, sequence: sequenceOf(kept) }) };
}

/** A snapshot may have an ETag that nobody was told of before it was read. */
function withEtag(kept: Blob, chosen: Chosen): Blob {
  if (!kept.etag.startsWith(UNTOLD)) return kept;
  const { write, pieces } = kept;
  return { ...kept, etag: chosen.etagOf(versionOf({ write, length: lengthOf(pieces) })) };
}

/** Where both the source and the target are refused, either may be said. */
export function copySnapshot(
  state: BlobRevision,
  asked: CopySnapshotAsked & { readonly targetFirst?: boolean },
  chosen: Chosen,
): Step {
  const source = state.snapshots[asked.snapshot];
  const bySource = source === undefined ? "404 CannotVerifyCopySource" : null;
  const byTarget = judgeWriteByLease(state, asked.leaseId);
  const refused = asked.targetFirst ? (byTarget ?? bySource) : (bySource ?? byTarget);
  if (refused !== null || source === undefined) return refuse(state, refused ?? "");
  const type = refuseByType(state, source.type);
  if (type !== null) return refuse(state, type);
  if (source.type !== "block") return refuse(state, "409 InvalidSourceBlobType");
  return write({ ...state, staged: {} }, asked.write, chosen, source);
}
