import { Fault } from "../base/fault.ts";
import type { ActiveRule, SeenRequest } from "./active-rules.ts";
import type { AnswerEffect } from "./rule.ts";

/**
 * Thrown where a rule answers or drops a request while it is handled. It is a `Fault`, so that
 * services take back what they have begun.
 */
export class Interrupted extends Fault {
  constructor() {
    super("ServerBusy");
  }
}

/** A request on its way through the lab. */
export abstract class LabCall {
  readonly seen: SeenRequest;
  /** The account whose clock it goes by; null for the server's. */
  readonly clockOf: string | null;
  /** Ids of the rules that it has met. */
  readonly met = new Set<number>();
  hasRead = false;
  hasDecided = false;
  /** Whether it is answered: what it has left to do in the background meets no rules. */
  isOver = false;
  /** Bytes of the answer's body after which the connection is cut; null for none. */
  endsAfter: number | null = null;
  /** How slowly the answer's body is sent, and the rule that wants it; null for at once. */
  slowed: { readonly active: ActiveRule; readonly bytesPerSecond: number } | null = null;

  constructor(seen: SeenRequest, clockOf: string | null) {
    this.seen = seen;
    this.clockOf = clockOf;
  }

  /** What to throw so that the client gets the answer of a rule. */
  abstract answered(rule: number, effect: AnswerEffect): Error;

  /** What to throw so that the client gets no answer, and loses its connection. */
  abstract dropped(): Error;
}
