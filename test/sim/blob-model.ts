import { isDeepStrictEqual } from "node:util";
import type { Model } from "../../src/check/linearize.ts";
import {
  type BlobAnswer,
  type BlobAsked,
  type BlockReference,
  EMPTY_ANSWER,
  type Guards,
  type Listed,
} from "./blob-words.ts";
import { askLease } from "./lease-model.ts";
import {
  answerWith,
  type BlobState,
  type Chosen,
  describe,
  emptyState,
  judgeByLeaseId,
  judgeByType,
  judgeWriteByEtag,
  judgeWriteByLease,
  leaseAfterWrite,
  type Made,
  matches,
  PLACEHOLDER,
  refuse,
  type Step,
  sequenceOf,
  wholeSeconds,
  write,
} from "./modelled-blob.ts";
import { PAGES, putPage, setSequence } from "./page-model.ts";
import { lengthOf, type Piece, ZERO_PAGE } from "./pieces.ts";
import { copySnapshot, readSnapshot, takeSnapshot } from "./snapshot-model.ts";

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
