import {
  type BlobAnswer,
  type BlobDone,
  type BlobType,
  EMPTY_ANSWER,
  type Guards,
  type Listed,
} from "./blob-words.ts";
import { isLocked, type Lease, leaseStateOf } from "./lease-model.ts";
import { lengthOf, type Piece } from "./pieces.ts";

/** The state of one name in a container, and the time. */
export interface BlobState {
  readonly nowMs: number;
  /** The time at which the last change was judged; no later change is judged at an earlier one. */
  readonly changedMs: number;
  readonly blob: Blob | null;
  readonly snapshots: Readonly<Record<string, Blob>>;
  /** Uncommitted blocks by id. */
  readonly staged: Readonly<Record<string, Piece>>;
}

export interface Blob {
  readonly etag: string;
  readonly write: string;
  readonly modifiedMs: number;
  readonly type: BlobType;
  readonly pieces: readonly Piece[];
  /** Ids of the committed blocks, one for each piece; none if it was put in one request. */
  readonly blocks: readonly string[];
  readonly lease: Lease | null;
  /** Of page blobs; 0 otherwise. */
  readonly sequence: number;
}

/** Values that a server is free to choose. */
export interface Chosen {
  etagOf(version: string): string;
  leaseId(): string;
  snapshot(): string;
}

export interface Step {
  readonly state: BlobState;
  readonly answer: BlobAnswer;
}

export function emptyState(nowMs: number): BlobState {
  return { nowMs, changedMs: nowMs, blob: null, snapshots: {}, staged: {} };
}

/** A version is identified by the write that began it and by its length. */
export function versionOf({ write, length }: { write: string; length: number }): string {
  return `${write}/${length}`;
}

/** Stands for the ETag of a write without an answer, if no read has seen it either. */
export const PLACEHOLDER = "of ";

/** The parts of a version. */
export type Made = Pick<Blob, "type" | "pieces" | "blocks" | "sequence">;

/**
 * A new version. Some changes have neither a new name nor a new length: they have names of their
 * own.
 */
export function write(
  state: BlobState,
  name: string,
  chosen: Chosen,
  { type, pieces, blocks, sequence }: Made,
  change = "",
): { state: BlobState; answer: BlobDone } {
  const { nowMs, blob: old } = state;
  const etag = chosen.etagOf(versionOf({ write: name, length: lengthOf(pieces) }) + change);
  const modifiedMs = Math.max(nowMs, old?.modifiedMs ?? 0);
  const lease = leaseAfterWrite(old, nowMs);
  const blob = { etag, write: name, modifiedMs, type, pieces, blocks, lease, sequence };
  return {
    state: { ...state, blob },
    answer: answerWith({ etag, modifiedMs: wholeSeconds(modifiedMs) }),
  };
}

/** A write forgets a lease that is no longer active. */
export function leaseAfterWrite(old: Blob | null, nowMs: number): Lease | null {
  return old !== null && isLocked(old.lease, nowMs) ? old.lease : null;
}

export function describe({ type, pieces, lease, ...blob }: Blob, nowMs: number): Listed {
  const { etag, write, modifiedMs } = blob;
  return {
    type,
    etag,
    write,
    modifiedMs: wholeSeconds(modifiedMs),
    length: lengthOf(pieces),
    lease: leaseStateOf(lease, nowMs),
  };
}

export function judgeByType({ blob }: BlobState, type: Blob["type"]): string | null {
  return blob !== null && blob.type !== type ? "409 InvalidBlobType" : null;
}

export function judgeWriteByEtag({ blob }: BlobState, { ifMatch }: Guards): string | null {
  if (ifMatch === null || (blob !== null && matches(blob, ifMatch))) return null;
  return "412 ConditionNotMet";
}

export function matches({ etag }: Blob, wanted: string): boolean {
  return wanted === "*" || wanted === etag;
}

export function judgeWriteByLease(state: BlobState, id: string | null): string | null {
  if (id !== null) return judgeByLeaseId(state, id);
  return isLocked(state.blob?.lease ?? null, state.nowMs) ? "412 LeaseIdMissing" : null;
}

export function judgeByLeaseId({ blob, nowMs }: BlobState, id: string | null): string | null {
  if (id === null) return null;
  const held = blob?.lease ?? null;
  if (held === null) return "412 LeaseNotPresentWithBlobOperation";
  if (held.id !== id) return "412 LeaseIdMismatchWithBlobOperation";
  return isLocked(held, nowMs) ? null : "412 LeaseLost";
}

/** Null unless it is a page blob. */
export function sequenceOf({ type, sequence }: Blob): number | null {
  return type === "page" ? sequence : null;
}

/** Dates in headers have whole seconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

export function answerWith(what: Partial<BlobDone>): BlobDone {
  return { ...EMPTY_ANSWER, ...what };
}

/** A refusal changes nothing. */
export function refuse(state: BlobState, refused: string): Step {
  return { state, answer: { refused } };
}
