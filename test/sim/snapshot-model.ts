import type { BlobAsked, CopySnapshotAsked } from "./blob-words.ts";
import {
  answerWith,
  type Blob,
  type BlobState,
  type Chosen,
  describe,
  judgeByLeaseId,
  judgeByType,
  judgeWriteByEtag,
  judgeWriteByLease,
  PLACEHOLDER,
  refuse,
  type Step,
  sequenceOf,
  versionOf,
  wholeSeconds,
  write,
} from "./modelled-blob.ts";
import { lengthOf } from "./pieces.ts";

type SnapshotAsked = Extract<BlobAsked, { operation: "snapshot" }>;
type GetSnapshotAsked = Extract<BlobAsked, { operation: "get-snapshot" }>;

/** A snapshot needs no lease id, and leaves the blob unchanged. */
export function takeSnapshot(state: BlobState, asked: SnapshotAsked, chosen: Chosen): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const refused = judgeWriteByEtag(state, asked) ?? judgeByLeaseId(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const snapshot = chosen.snapshot();
  const snapshots = { ...state.snapshots, [snapshot]: { ...blob, lease: null } };
  const { etag, modifiedMs } = blob;
  return {
    state: { ...state, snapshots },
    answer: answerWith({ etag, modifiedMs: wholeSeconds(modifiedMs), snapshot }),
  };
}

export function readSnapshot(state: BlobState, asked: GetSnapshotAsked, chosen: Chosen): Step {
  const taken = state.snapshots[asked.snapshot];
  if (taken === undefined) return refuse(state, "404 BlobNotFound");
  const { etag, modifiedMs, ...found } = describe(withEtag(taken, chosen), state.nowMs);
  const { pieces } = taken;
  return {
    state,
    answer: answerWith({ etag, modifiedMs, found, pieces, sequence: sequenceOf(taken) }),
  };
}

/** The ETag of a snapshot may first appear when it is read. */
function withEtag(taken: Blob, chosen: Chosen): Blob {
  if (!taken.etag.startsWith(PLACEHOLDER)) return taken;
  const { write, pieces } = taken;
  return { ...taken, etag: chosen.etagOf(versionOf({ write, length: lengthOf(pieces) })) };
}

/** If both the source and the target are refused, the answer may be either. */
export function copySnapshot(
  state: BlobState,
  asked: CopySnapshotAsked & { readonly targetFirst?: boolean },
  chosen: Chosen,
): Step {
  const source = state.snapshots[asked.snapshot];
  const bySource = source === undefined ? "404 CannotVerifyCopySource" : null;
  const byTarget = judgeWriteByLease(state, asked.leaseId);
  const refused = asked.targetFirst ? (byTarget ?? bySource) : (bySource ?? byTarget);
  if (refused !== null || source === undefined) return refuse(state, refused ?? "");
  const type = judgeByType(state, source.type);
  if (type !== null) return refuse(state, type);
  if (source.type !== "block") return refuse(state, "409 InvalidSourceBlobType");
  return write({ ...state, staged: {} }, asked.write, chosen, source);
}
