import type { PutPageAsked, SetSequenceAsked } from "./blob-words.ts";
import {
  type BlobState,
  type Chosen,
  judgeByType,
  judgeWriteByEtag,
  judgeWriteByLease,
  refuse,
  type Step,
  sequenceOf,
  write,
} from "./modelled-blob.ts";

/** Pages of every page blob. */
export const PAGES = 4;

export function putPage(state: BlobState, asked: PutPageAsked, chosen: Chosen): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const refused =
    judgeByType(state, "page") ??
    judgeWriteByEtag(state, asked) ??
    judgeWriteByLease(state, asked.leaseId) ??
    judgeBySequence(blob.sequence, asked.sequence);
  if (refused !== null) return refuse(state, refused);
  const pieces = blob.pieces.with(asked.page, asked.piece);
  return withSequence(write(state, blob.write, chosen, { ...blob, pieces }, `/${asked.name}`));
}

function judgeBySequence(number: number, asked: PutPageAsked["sequence"]): string | null {
  if (asked === null) return null;
  const holds = {
    le: number <= asked.number,
    lt: number < asked.number,
    eq: number === asked.number,
  };
  return holds[asked.is] ? null : "412 SequenceNumberConditionNotMet";
}

export function setSequence(state: BlobState, asked: SetSequenceAsked, chosen: Chosen): Step {
  const { blob } = state;
  if (blob === null) return refuse(state, "404 BlobNotFound");
  const refused =
    judgeByType(state, "page") ??
    judgeWriteByEtag(state, asked) ??
    judgeWriteByLease(state, asked.leaseId);
  if (refused !== null) return refuse(state, refused);
  const next = {
    max: Math.max(blob.sequence, asked.number),
    update: asked.number,
    increment: blob.sequence + 1,
  };
  const made = { ...blob, sequence: next[asked.action] };
  return withSequence(write(state, blob.write, chosen, made, `/${asked.name}`));
}

function withSequence({ state, answer }: ReturnType<typeof write>): Step {
  const sequence = state.blob === null ? null : sequenceOf(state.blob);
  return { state, answer: { ...answer, sequence } };
}
