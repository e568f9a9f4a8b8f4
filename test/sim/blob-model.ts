import { isDeepStrictEqual } from "node:util";
import {
  type BlobAnswer,
  type BlobAsked,
  type BlobDone,
  type BlockReference,
  type Guards,
  type Listed,
  NOTHING_TOLD,
} from "./blob-words.ts";
import { askLease, isLocked, type Lease, leaseStateOf } from "./lease-model.ts";
import type { Model } from "./linearize.ts";
import { lengthOf, type Piece } from "./pieces.ts";

/** One name in a container, and the time. */
export interface BlobState {
  readonly nowMs: number;
  readonly blob: Blob | null;
  /** Uncommitted blocks by id. */
  readonly staged: Readonly<Record<string, Piece>>;
}

interface Blob {
  readonly etag: string;
  readonly write: string;
  readonly modifiedMs: number;
  readonly pieces: readonly Piece[];
  /** Ids of the committed blocks, one for each piece; none if it was put in one. */
  readonly blocks: readonly string[];
  readonly lease: Lease | null;
}

/** What a server is free to choose. */
export interface Chosen {
  etagOf(version: string): string;
  leaseId(): string;
}

export interface Step {
  readonly state: BlobState;
  readonly answer: BlobAnswer;
}

export function emptyState(nowMs: number): BlobState {
  return { nowMs, blob: null, staged: {} };
}

/** What the documentation says about one operation on one blob: what it changes and what it answers. */
export function perform(state: BlobState, asked: BlobAsked, chosen: Chosen, key: string): Step {
  switch (asked.operation) {
    case "put":
    case "commit":
      return create(state, asked, chosen);
    case "stage":
      return stage(state, asked);
    case "set-metadata":
    case "delete":
      return update(state, asked, chosen);
    case "get":
    case "head":
      return read(state, asked);
    case "list":
      return { state, answer: told({ listed: listedOf(state, key) }) };
    case "turn":
      return { state: { ...state, nowMs: state.nowMs + asked.byMs }, answer: told({}) };
    default:
      return lease(state, asked, chosen);
  }
}

/** A version is known by the write that began it and by how far it has grown. */
export function versionOf({ write, length }: { write: string; length: number }): string {
  return `${write}/${length}`;
}

/**
 * The blob as a register for the checker. `etags` knows those that were seen, by version: writes
 * whose own answers never came are recognized by them.
 */
export function blobModel(
  key: string,
  startMs: number,
  etags: ReadonlyMap<string, string>,
): Model<BlobState, BlobAsked, BlobAnswer> {
  return {
    initial: emptyState(startMs),
    step(state, asked, answer) {
      const step = perform(state, asked, chosenBy(answer, etags), key);
      return answer === null || isDeepStrictEqual(step.answer, answer) ? step.state : null;
    },
    identify: (state) => JSON.stringify(state),
  };
}

/** Nobody knows what a server chose if nobody was told: then a name of its own stands for it. */
function chosenBy(answer: BlobAnswer | null, etags: ReadonlyMap<string, string>): Chosen {
  const { etag, leaseId } = answer?.refused === null ? answer : NOTHING_TOLD;
  return {
    etagOf: (version) => etag ?? etags.get(version) ?? `of ${version}`,
    leaseId: () => leaseId ?? "unknown",
  };
}

function create(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "put" | "commit" }>,
  chosen: Chosen,
): Step {
  const refused =
    refuseWriteByEtag(state, asked) ??
    (state.blob !== null && asked.ifNoneMatch === "*" ? "409 BlobAlreadyExists" : null) ??
    refuseWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const made =
    asked.operation === "put"
      ? { pieces: [asked.piece], blocks: [] }
      : compose(state, asked.blocks);
  if (made === null) return refuse(state, "400 InvalidBlockList");
  return write({ ...state, staged: {} }, asked.write, chosen, made);
}

/** Puts blocks together; null if one is not there. */
function compose(
  { blob, staged }: BlobState,
  wanted: readonly BlockReference[],
): Pick<Blob, "pieces" | "blocks"> | null {
  const pieces: Piece[] = [];
  for (const { id, from } of wanted) {
    const uncommitted = from === "committed" ? undefined : staged[id];
    const committed = from === "uncommitted" ? undefined : blob?.pieces[blob.blocks.indexOf(id)];
    const piece = uncommitted ?? committed;
    if (piece === undefined) return null;
    pieces.push(piece);
  }
  return { pieces, blocks: wanted.map(({ id }) => id) };
}

function stage(state: BlobState, asked: Extract<BlobAsked, { operation: "stage" }>): Step {
  const refused = refuseWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const staged = { ...state.staged, [asked.block]: asked.piece };
  return { state: { ...state, staged }, answer: told({}) };
}

function update(
  state: BlobState,
  asked: Extract<BlobAsked, { operation: "set-metadata" | "delete" }>,
  chosen: Chosen,
): Step {
  if (state.blob === null) return refuse(state, "404 BlobNotFound");
  const refused = refuseWriteByEtag(state, asked) ?? refuseWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  if (asked.operation === "set-metadata") return write(state, asked.write, chosen, state.blob);
  return { state: { ...state, blob: null, staged: {} }, answer: told({}) };
}

/** A new version. It ends the memory of a lease that does not count any more. */
function write(
  state: BlobState,
  name: string,
  chosen: Chosen,
  { pieces, blocks }: Pick<Blob, "pieces" | "blocks">,
): Step {
  const { nowMs, blob: old } = state;
  const etag = chosen.etagOf(versionOf({ write: name, length: lengthOf(pieces) }));
  const modifiedMs = Math.max(nowMs, old?.modifiedMs ?? 0);
  const lease = old !== null && isLocked(old.lease, nowMs) ? old.lease : null;
  const blob = { etag, write: name, modifiedMs, pieces, blocks, lease };
  return {
    state: { ...state, blob },
    answer: told({ etag, modifiedMs: wholeSeconds(modifiedMs) }),
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
  const refused = refuseByLeaseId(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const { etag, modifiedMs, ...found } = describe(blob, state.nowMs);
  const pieces = asked.operation === "get" ? blob.pieces : null;
  return { state, answer: told({ etag, modifiedMs, found, pieces }) };
}

/** A listing, as far as it is about one blob. */
function listedOf({ blob, nowMs }: BlobState, key: string): Record<string, Listed> {
  return blob === null ? {} : { [key]: describe(blob, nowMs) };
}

function describe({ etag, write, modifiedMs, pieces, lease }: Blob, nowMs: number): Listed {
  return {
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
  const answer = told({
    etag: blob.etag,
    modifiedMs: wholeSeconds(blob.modifiedMs),
    leaseId: tellsId ? (done.lease?.id ?? null) : null,
    secondsLeft: done.secondsLeft,
  });
  return { state: { ...state, blob: { ...blob, lease: done.lease } }, answer };
}

function refuseWriteByEtag({ blob }: BlobState, { ifMatch }: Guards): string | null {
  if (ifMatch === null || (blob !== null && matches(blob, ifMatch))) return null;
  return "412 ConditionNotMet";
}

function matches({ etag }: Blob, wanted: string): boolean {
  return wanted === "*" || wanted === etag;
}

function refuseWriteByLease(state: BlobState, id: string | null): string | null {
  if (id !== null) return refuseByLeaseId(state, id);
  return isLocked(state.blob?.lease ?? null, state.nowMs) ? "412 LeaseIdMissing" : null;
}

function refuseByLeaseId({ blob, nowMs }: BlobState, id: string | null): string | null {
  if (id === null) return null;
  const held = blob?.lease ?? null;
  if (held === null) return "412 LeaseNotPresentWithBlobOperation";
  if (held.id !== id) return "412 LeaseIdMismatchWithBlobOperation";
  return isLocked(held, nowMs) ? null : "412 LeaseLost";
}

/** Dates in headers have whole seconds. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function told(what: Partial<BlobDone>): BlobDone {
  return { ...NOTHING_TOLD, ...what };
}

/** What is refused changes nothing. */
function refuse(state: BlobState, refused: string): Step {
  return { state, answer: { refused } };
}
