import { isDeepStrictEqual } from "node:util";
import {
  type BlobAnswer,
  type BlobAsked,
  type BlobDone,
  type BlobType,
  type BlockReference,
  EMPTY_ANSWER,
  type Guards,
  type Listed,
} from "./blob-words.ts";
import { askLease, isLocked, type Lease, leaseStateOf } from "./lease-model.ts";
import type { Model } from "./linearize.ts";
import { PAGES, putPage, setSequence } from "./page-model.ts";
import { lengthOf, type Piece, ZERO_PAGE } from "./pieces.ts";
import { copySnapshot, readSnapshot, takeSnapshot } from "./snapshot-model.ts";

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

/** One operation on one blob according to the documentation: the change and the answer. */
export function perform(state: BlobState, asked: BlobAsked, chosen: Chosen, key: string): Step {
  switch (asked.operation) {
    case "put":
    case "commit":
    case "create-append":
    case "create-page":
      return create(state, asked, chosen);
    case "put-page":
      return putPage(state, asked, chosen);
    case "set-sequence":
      return setSequence(state, asked, chosen);
    case "snapshot":
      return takeSnapshot(state, asked, chosen);
    case "get-snapshot":
      return readSnapshot(state, asked, chosen);
    case "copy-snapshot":
      return copySnapshot(state, asked, chosen);
    case "append":
      return append(state, asked, chosen);
    case "stage":
      return stage(state, asked);
    case "set-metadata":
      return setMetadata(state, asked, chosen);
    case "delete":
      return remove(state, asked);
    case "get":
    case "head":
      return read(state, asked);
    case "list":
      return { state, answer: answerWith({ listed: listedOf(state, key) }) };
    case "advance":
      return { state: { ...state, nowMs: state.nowMs + asked.byMs }, answer: answerWith({}) };
    default:
      return lease(state, asked, chosen);
  }
}

/** A version is identified by the write that began it and by its length. */
export function versionOf({ write, length }: { write: string; length: number }): string {
  return `${write}/${length}`;
}

/** Facts that a history as a whole shows. */
export interface Known {
  /** ETags of versions that were read. */
  readonly etags: ReadonlyMap<string, string>;
  /** ETags of versions that are known. */
  readonly taken: ReadonlySet<string>;
  /** The times that the clock has shown since this tick, in rising order. */
  timesSince(tick: number): readonly number[];
}

/**
 * The blob as a register for the checker. A read shows the state of one moment. A change is judged
 * at some time while it was in progress, and may become visible a little later, when it is durable;
 * but the times of changes never go backwards.
 */
export function blobModel(
  key: string,
  startMs: number,
  known: Known,
): Model<BlobState, BlobAsked, BlobAnswer> {
  return {
    initial: emptyState(startMs),
    steps(before, { asked, answer, invoked }) {
      const state = answer === null ? before : withEtagSeen(before, answer, known);
      const timesMs = mayBeLate(asked) ? known.timesSince(invoked) : [state.nowMs];
      const chosen = chosenBy(answer, known);
      const after: BlobState[] = [];
      for (const nowMs of timesMs) {
        if (nowMs < state.changedMs || nowMs > state.nowMs) continue;
        for (const way of waysOf(asked)) {
          const step = performAt(state, nowMs, way, chosen, key);
          if (answer !== null && !isSame(step.answer, answer)) continue;
          if (step.state !== before) after.push(step.state);
          else if (answer !== null) return [before];
        }
      }
      return after;
    },
    identify: (state) => JSON.stringify(state),
  };
}

/** If two refusals apply, the server may answer with either. */
function waysOf(asked: BlobAsked): readonly BlobAsked[] {
  if (asked.operation !== "copy-snapshot") return [asked];
  const targetFirst: BlobAsked & { targetFirst: boolean } = { ...asked, targetFirst: true };
  return [asked, targetFirst];
}

/** Compares the cheapest fields first: a search compares millions of answers. */
function isSame(expected: BlobAnswer, actual: BlobAnswer): boolean {
  if (expected.refused !== null || actual.refused !== null)
    return expected.refused === actual.refused;
  return expected.etag === actual.etag && isDeepStrictEqual(expected, actual);
}

function mayBeLate({ operation }: BlobAsked): boolean {
  return !["get", "head", "get-snapshot", "list", "advance"].includes(operation);
}

/** Performs an operation as judged at a time that may have passed. */
function performAt(
  state: BlobState,
  nowMs: number,
  asked: BlobAsked,
  chosen: Chosen,
  key: string,
): Step {
  if (!mayBeLate(asked)) return perform(state, asked, chosen, key);
  const past = { ...state, nowMs };
  const { state: after, answer } = perform(past, asked, chosen, key);
  if (after === past) return { state, answer };
  return { state: { ...after, nowMs: state.nowMs, changedMs: nowMs }, answer };
}

/** Stands for the ETag of a write without an answer, if no read has seen it either. */
export const PLACEHOLDER = "of ";

/** A placeholder stands for a choice of the server that no answer shows. */
function chosenBy(answer: BlobAnswer | null, { etags }: Known): Chosen {
  const { etag, leaseId, snapshot } = answer?.refused === null ? answer : EMPTY_ANSWER;
  return {
    etagOf: (version) => etag ?? etags.get(version) ?? PLACEHOLDER + version,
    leaseId: () => leaseId ?? "unknown",
    snapshot: () => snapshot ?? "unknown",
  };
}

/** Leasing and listing return the blob's ETag, which may be its first appearance. */
function withEtagSeen(state: BlobState, answer: BlobAnswer, { taken }: Known): BlobState {
  const { blob } = state;
  if (!blob?.etag.startsWith(PLACEHOLDER) || answer.refused !== null) return state;
  const etag = answer.etag ?? Object.values(answer.listed ?? {})[0]?.etag ?? null;
  return etag === null || taken.has(etag) ? state : { ...state, blob: { ...blob, etag } };
}

function create(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "put" | "commit" | "create-append" | "create-page" }>,
  chosen: Chosen,
): Step {
  const refused =
    (asked.operation === "commit" ? judgeByType(state, "block") : null) ??
    judgeWriteByEtag(state, asked) ??
    (state.blob !== null && asked.ifNoneMatch === "*" ? "409 BlobAlreadyExists" : null) ??
    judgeWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const made = make(state, asked);
  if (made === null) return refuse(state, "400 InvalidBlockList");
  return write({ ...state, staged: {} }, asked.write, chosen, made);
}

/** The parts of a version. */
export type Made = Pick<Blob, "type" | "pieces" | "blocks" | "sequence">;

function make(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "put" | "commit" | "create-append" | "create-page" }>,
): Made | null {
  switch (asked.operation) {
    case "put":
      return { type: "block", pieces: [asked.piece], blocks: [], sequence: 0 };
    case "create-append":
      return { type: "append", pieces: [], blocks: [], sequence: 0 };
    case "create-page":
      return { type: "page", pieces: Array(PAGES).fill(ZERO_PAGE), blocks: [], sequence: 0 };
    case "commit":
      return compose(state, asked.blocks);
  }
}

/** Composes blocks; null if one is missing. */
function compose({ blob, staged }: BlobState, wanted: readonly BlockReference[]): Made | null {
  const pieces: Piece[] = [];
  for (const { id, from } of wanted) {
    const uncommitted = from === "committed" ? undefined : staged[id];
    const committed = from === "uncommitted" ? undefined : blob?.pieces[blob.blocks.indexOf(id)];
    const piece = uncommitted ?? committed;
    if (piece === undefined) return null;
    pieces.push(piece);
  }
  return { type: "block", pieces, blocks: wanted.map(({ id }) => id), sequence: 0 };
}

function append(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "append" }>,
  chosen: Chosen,
): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const offset = lengthOf(blob.pieces);
  const refused =
    judgeByType(state, "append") ??
    judgeWriteByEtag(state, asked) ??
    judgeWriteByLease(state, asked.leaseId) ??
    ((asked.position ?? offset) === offset ? null : "412 AppendPositionConditionNotMet");
  if (refused !== null) return refuse(state, refused);
  const pieces = [...blob.pieces, asked.piece];
  const step = write(state, blob.write, chosen, { ...blob, pieces });
  return { ...step, answer: { ...step.answer, offset } };
}

function stage(state: BlobState, asked: Extract<BlobAsked, { operation: "stage" }>): Step {
  const refused = judgeByType(state, "block") ?? judgeWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const staged = { ...state.staged, [asked.block]: asked.piece };
  const { blob, nowMs } = state;
  const after = blob && { ...blob, lease: leaseAfterWrite(blob, nowMs) };
  return { state: { ...state, blob: after, staged }, answer: answerWith({}) };
}

/** A write forgets a lease that is no longer active. */
function leaseAfterWrite(old: Blob | null, nowMs: number): Lease | null {
  return old !== null && isLocked(old.lease, nowMs) ? old.lease : null;
}

function setMetadata(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "set-metadata" }>,
  chosen: Chosen,
): Step {
  if (state.blob === null) return refuse(state, "404 BlobNotFound");
  const refused = judgeWrite(state, asked);
  return refused === null ? write(state, asked.write, chosen, state.blob) : refuse(state, refused);
}

/** Blocks that were never committed can be deleted, too. */
function remove(state: BlobState, asked: Extract<BlobAsked, { operation: "delete" }>): Step {
  const isThere = state.blob !== null || Object.keys(state.staged).length > 0;
  if (!isThere) return refuse(state, "404 BlobNotFound");
  const refused = judgeWrite(state, asked);
  if (refused !== null) return refuse(state, refused);
  if (!asked.withSnapshots && Object.keys(state.snapshots).length > 0) {
    return refuse(state, "409 SnapshotsPresent");
  }
  return { state: { ...state, blob: null, snapshots: {}, staged: {} }, answer: answerWith({}) };
}

function judgeWrite(state: BlobState, asked: Guards): string | null {
  return judgeWriteByEtag(state, asked) ?? judgeWriteByLease(state, asked.leaseId);
}

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

function read(state: BlobState, asked: Guards & { operation: "get" | "head" }): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  if (asked.ifMatch !== null && !matches(blob, asked.ifMatch)) {
    return refuse(state, "412 ConditionNotMet");
  }
  if (asked.ifNoneMatch !== null && matches(blob, asked.ifNoneMatch)) {
    return refuse(state, "304 ConditionNotMet");
  }
  const refused = judgeByLeaseId(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const { etag, modifiedMs, ...found } = describe(blob, state.nowMs);
  const pieces = asked.operation === "get" ? blob.pieces : null;
  return {
    state,
    answer: answerWith({ etag, modifiedMs, found, pieces, sequence: sequenceOf(blob) }),
  };
}

/** The part of a listing that is about one blob. */
function listedOf({ blob, nowMs }: BlobState, key: string): Record<string, Listed> {
  return blob === null ? {} : { [key]: describe(blob, nowMs) };
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

function lease(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "acquire" | "renew" | "change" | "release" | "break" }>,
  chosen: Chosen,
): Step {
  const { blob, nowMs } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const done = askLease(blob.lease, asked, chosen.leaseId(), nowMs);
  if (done.refused !== null) return refuse(state, done.refused);
  const tellsId = asked.operation !== "break" && asked.operation !== "release";
  const answer = answerWith({
    etag: blob.etag,
    modifiedMs: wholeSeconds(blob.modifiedMs),
    leaseId: tellsId ? (done.lease?.id ?? null) : null,
    secondsLeft: done.secondsLeft,
  });
  return { state: { ...state, blob: { ...blob, lease: done.lease } }, answer };
}

export function judgeByType({ blob }: BlobState, type: Blob["type"]): string | null {
  return blob !== null && blob.type !== type ? "409 InvalidBlobType" : null;
}

export function judgeWriteByEtag({ blob }: BlobState, { ifMatch }: Guards): string | null {
  if (ifMatch === null || (blob !== null && matches(blob, ifMatch))) return null;
  return "412 ConditionNotMet";
}

function matches({ etag }: Blob, wanted: string): boolean {
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
