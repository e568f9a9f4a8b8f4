import type { FaultCode } from "../base/fault.ts";
import { SEQUENCE_NUMBER_MAX } from "../base/limits.ts";

/** Conditions of a write on a page blob's sequence number; null sets none. */
export interface SequenceConditions {
  readonly atMost: bigint | null;
  readonly below: bigint | null;
  readonly equal: bigint | null;
}

export function judgeBySequenceNumber(
  current: bigint,
  { atMost, below, equal }: SequenceConditions,
): FaultCode | null {
  const holds =
    (atMost === null || current <= atMost) &&
    (below === null || current < below) &&
    (equal === null || current === equal);
  return holds ? null : "SequenceNumberConditionNotMet";
}

export type SequenceAction =
  | { readonly action: "max" | "update"; readonly number: bigint }
  | { readonly action: "increment" };

export type SequenceOutcome =
  | { readonly refused: FaultCode }
  | { readonly refused: null; readonly number: bigint };

/** `max` never lowers it, `update` sets it, `increment` adds one. */
export function stepSequenceNumber(current: bigint, asked: SequenceAction): SequenceOutcome {
  switch (asked.action) {
    case "max":
      return { refused: null, number: asked.number > current ? asked.number : current };
    case "update":
      return { refused: null, number: asked.number };
    case "increment":
      if (current === SEQUENCE_NUMBER_MAX) return { refused: "SequenceNumberIncrementTooLarge" };
      return { refused: null, number: current + 1n };
  }
}
